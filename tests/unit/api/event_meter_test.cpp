#include "server/api/event_meter.h"

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai {
namespace {

UnixTime at(int64_t seconds) { return unix_micros(seconds * 1'000'000); }

TEST(SecondsHistogram, CountsUpToEachBound) {
  SecondsHistogram histogram({1, 10});
  for (double value : {0.5, 1.0, 2.0, 11.0, 1'000.0}) histogram.add(value);
  EXPECT_EQ(histogram.counts(), (std::vector<int64_t>{2, 1, 2}));
  EXPECT_DOUBLE_EQ(histogram.sum(), 1'014.5);
}

TEST(EventMeter, TellsSuspensionsFromTheirEnds) {
  EventMeter meter;
  const ClusterState state;
  const JobId job{3};
  meter.count(
      {{.seq = 1, .time = at(10), .body = AttemptSuspending{.job = job, .beneficiary = JobId{4}}},
       {.seq = 2,
        .time = at(17),
        .body = AttemptEnded{.job = job,
                             .outcome = AttemptState::suspended,
                             .lost_gpu_seconds = 40,
                             .gpu_seconds = 90}},
       {.seq = 3, .time = at(18), .body = AttemptSuspending{.job = job}},
       {.seq = 4, .time = at(19), .body = JobRequeued{.job = job}},
       {.seq = 5, .time = at(20), .body = JobFinished{.job = job, .state = JobState::failed}}},
      state);
  EXPECT_EQ(meter.preemptions, (EventMeter::Counters{{"for_another_job", 1}, {"on_request", 1}}));
  EXPECT_EQ(meter.lost_gpu_seconds, (EventMeter::Counters{{"suspended", 40}}));
  EXPECT_EQ(meter.requeues, (EventMeter::Counters{{"infrastructure", 1}}));
  EXPECT_EQ(meter.finished, (EventMeter::Counters{{"failed", 1}}));
  EXPECT_EQ(meter.gpu_seconds, 90);
  EXPECT_DOUBLE_EQ(meter.suspends.sum(), 7);
}

TEST(EventMeter, SizesAreFew) {
  EXPECT_EQ(size_class(1), "1");
  EXPECT_EQ(size_class(8), "2-8");
  EXPECT_EQ(size_class(64), "9-64");
  EXPECT_EQ(size_class(1'250), "65+");
}

}  // namespace
}  // namespace hai
