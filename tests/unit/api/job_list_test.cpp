#include "server/api/job_list.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(JobOrder, WordsAndDirections) {
  EXPECT_TRUE(JobOrder{}.is_newest_first());
  EXPECT_TRUE(parse_job_order("-id").value().is_newest_first());
  EXPECT_FALSE(parse_job_order("id").value().descending);
  EXPECT_EQ(parse_job_order("-node_count").value().by, JobOrderBy::nodes);
  for (const char* bad : {"", "-", "--id", "ID", "nodes "}) {
    EXPECT_FALSE(parse_job_order(bad).is_ok()) << bad;
  }
}

TEST(JobPlace, IsItsCursor) {
  for (const JobPlace& place : {JobPlace{7, "", JobId{1}}, JobPlace{-3, "a.b c\xff\n", JobId{9}},
                                JobPlace{INT64_MIN, "", JobId{INT64_MAX}}}) {
    EXPECT_EQ(parse_place(format_place(place)).value(), place);
  }
  for (const char* bad :
       {"", ".", "..", "1.2", "1.2.6", "1.2.6G", "x.2.61", "1.x.61", "1.2.61.62"}) {
    EXPECT_FALSE(parse_place(bad).is_ok()) << bad;
  }
}

}  // namespace
}  // namespace hai
