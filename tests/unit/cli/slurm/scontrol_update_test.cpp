#include "cli/slurm/scontrol_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai::cli::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

UnixTime now() { return parse_rfc3339("2026-11-20T15:30:00Z").value(); }

TEST(ScontrolUpdate, SaysHaiEditInSlurmsWords) {
  const JobUpdate update = read_update({"JobId=7,8,9_[1-2]", "TimeLimit=1-00:00:00", "numnodes=2",
                                        "QOS=high", "StartTime=now+1hour"},
                                       now())
                               .value();
  EXPECT_THAT(update.jobs, ElementsAre("7", "8", "9_1", "9_2"));
  EXPECT_EQ(parse_duration(update.edit.timeout()).value(), Duration(24h));
  EXPECT_EQ(update.edit.node_count(), 2);
  EXPECT_EQ(update.edit.priority(), "high");
  EXPECT_EQ(update.edit.begin_at_us(), to_micros(now() + 1h));
  EXPECT_TRUE(read_update({"job=7", "StartTime=now"}, now()).value().edit.begin_now());
  EXPECT_EQ(read_update({"JobId=7", "TimeLimit=UNLIMITED"}, now()).value().edit.timeout(), "0s");
}

TEST(ScontrolUpdate, RefusesTheRest) {
  const std::pair<Words, const char*> kBad[] = {
      {{"TimeLimit=5"}, "say which job"},
      {{"JobId=7"}, "say what is to change"},
      {{"JobId=7", "TimeLimit"}, "not KEY=VALUE"},
      {{"JobId=7", "TimeLimit+=5"}, "give the whole value"},
      {{"JobId=7", "NumNodes=1-2"}, "one number of nodes"},
      {{"JobId=7", "Partition=dev"}, "partition cannot change"},
      {{"JobId=7", "QOS=debug"}, "unknown priority"},
      {{"NodeName=n1", "State=DRAIN"}, "hai drain"}};
  for (const auto& [words, why] : kBad) {
    EXPECT_THAT(read_update(words, now()).status().message(), HasSubstr(why));
  }
}

}  // namespace
}  // namespace hai::cli::slurm
