#include "server/api/progress_board.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

UnixTime progress_at(int64_t seconds) { return unix_micros(seconds * 1'000'000); }

TEST(ProgressBoard, NotesStepsThatMove) {
  ProgressBoard board;
  board.note(progress_at(10), {{JobId{1}, 5}});
  board.note(progress_at(20), {{JobId{1}, 5}});
  board.note(progress_at(30), {{JobId{1}, 9}, {JobId{2}, 1}});
  EXPECT_EQ(board.points(JobId{1}),
            (std::vector<ProgressPoint>{{progress_at(10), 5}, {progress_at(30), 9}}));
  EXPECT_EQ(board.points(JobId{3}).size(), 0u);
}

TEST(ProgressBoard, ThinsOutLongRunsAndKeepsBothEnds) {
  ProgressBoard board;
  for (int64_t i = 0; i < 10'000; ++i) board.note(progress_at(10 * i), {{JobId{1}, i}});
  const std::vector<ProgressPoint> points = board.points(JobId{1});
  EXPECT_LE(points.size(), ProgressBoard::kPointsMax + 1);
  EXPECT_GE(points.size(), ProgressBoard::kPointsMax / 2);
  EXPECT_EQ(points.front(), (ProgressPoint{progress_at(0), 0}));
  EXPECT_EQ(points.back(), (ProgressPoint{progress_at(99'990), 9'999}));
  for (size_t i = 1; i < points.size(); ++i) EXPECT_LT(points[i - 1].step, points[i].step);
}

TEST(ProgressBoard, ForgetsTheOldestJobs) {
  ProgressBoard board;
  for (int64_t i = 1; i <= 30'000; ++i) board.note(progress_at(i), {{JobId{i}, 1}});
  EXPECT_EQ(board.job_count(), ProgressBoard::kJobsMax);
  EXPECT_EQ(board.points(JobId{1}).size(), 0u);
  EXPECT_EQ(board.points(JobId{30'000}).size(), 1u);
}

}  // namespace
}  // namespace hai
