#include "common/log_store/layout.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

const RankKey kKey{.job = JobId{17'042}, .attempt = 2, .rank = 13};

TEST(LogStoreLayout, NamesAreNumbersOnly) {
  EXPECT_EQ(thousand_folder(kKey.job), "17");
  EXPECT_EQ(job_folder(kKey.job), "17042");
  EXPECT_EQ(rank_folder(kKey), "2.13");
  EXPECT_EQ(chunk_name(8'388'608), "0000000008388608.gz");
}

TEST(LogStoreLayout, ReadsBackWhatItWrites) {
  EXPECT_EQ(parse_thousand_folder("17"), 17);
  EXPECT_EQ(parse_job_folder("17042"), kKey.job);
  EXPECT_EQ(parse_rank_folder(kKey.job, "2.13"), kKey);
  EXPECT_EQ(parse_chunk_name("0000000008388608.gz"), 8'388'608);
}

TEST(LogStoreLayout, TakesNothingElse) {
  for (const char* name : {"", "..", "-1", "+1", "01", "1 ", "1/2", "x", ".hai-log-store"}) {
    EXPECT_FALSE(parse_thousand_folder(name)) << name;
    EXPECT_FALSE(parse_job_folder(name)) << name;
  }
  EXPECT_FALSE(parse_job_folder("0"));
  for (const char* name :
       {"", ".", "..", "2", "2.", ".1", "0.1", "2.-1", "02.1", "2.1.1", "2.01"}) {
    EXPECT_FALSE(parse_rank_folder(kKey.job, name)) << name;
  }
  for (const char* name : {"1.gz", "0000000008388608", "-000000008388608.gz", "rank.json",
                           "0000000008388608.gz.tmp", "00000000083886 8.gz"}) {
    EXPECT_FALSE(parse_chunk_name(name)) << name;
  }
}

}  // namespace
}  // namespace hai
