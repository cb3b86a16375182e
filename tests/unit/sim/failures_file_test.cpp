// Outages: how servers of a log are laid over a cluster, and that the log begins anew.

#include "sim/trace/failures_file.h"

#include <gmock/gmock.h>

#include "tests/unit/sim/temp_file.h"

namespace hai::test {
namespace {

const std::string kHeader = "node,start_s,end_s,class\n";

std::string text_of(const Outage& outage) {
  return fmt::format("{} {}-{} {}", outage.node, outage.start / 1h, outage.end / 1h, outage.reason);
}

std::vector<std::string> first(const std::string& text, int nodes, int servers, int count) {
  TempFile file(text);
  auto failures = read_failures(file.path(), nodes, servers);
  EXPECT_TRUE(failures.is_ok()) << failures.status().message();
  std::vector<std::string> outages;
  for (int i = 0; i < count; ++i) outages.push_back(text_of(failures.value().next()));
  return outages;
}

TEST(FailuresFile, RepeatsTheLog) {
  // 3 h to 6 h, 22 h to 25 h: the log spans two days.
  EXPECT_THAT(first(kHeader + "0,10800,21600,GPU\n1,79200,90000,link\n", 2, 2, 4),
              ::testing::ElementsAre("0 3-6 GPU", "1 22-25 link", "0 51-54 GPU", "1 70-73 link"));
}

TEST(FailuresFile, LaysServersOverMoreNodesAtOtherTimes) {
  // Two copies of a day: the second is 12 h later, and what runs over the end began before time 0.
  EXPECT_THAT(first(kHeader + "0,36000,46800,GPU\n", 2, 1, 4),
              ::testing::ElementsAre("1 0-1 GPU", "0 10-13 GPU", "1 22-25 GPU", "0 34-37 GPU"));
}

TEST(FailuresFile, AnOutageOfNoTimeIsOneStill) {
  TempFile file(kHeader + "0,60,60,GPU\n");
  Outage outage = read_failures(file.path(), 1, 1).value().next();
  EXPECT_EQ(outage.end - outage.start, 1s);
}

TEST(FailuresFile, SaysWhereItIsBroken) {
  auto error_of = [](const std::string& text) {
    TempFile file(text);
    return file.shown(read_failures(file.path(), 4, 4).status().message());
  };
  EXPECT_EQ(error_of(kHeader), "FILE: there is no outage in it");
  EXPECT_EQ(error_of(kHeader + "4,0,1,x\n"), "FILE:2: node: must be 0..3, is 4");
  EXPECT_EQ(error_of(kHeader + "0.5,0,1,x\n"), "FILE:2: node: must be a whole number, is 0.5");
  EXPECT_EQ(error_of(kHeader + "0,5,4,x\n"), "FILE:2: end_s: 4 is before start_s, 5");
  EXPECT_EQ(error_of("node,begin\n"),
            "FILE:1: unknown column 'begin', known are: node, start_s, end_s, level, class, desc, "
            "repair_s");
}

}  // namespace
}  // namespace hai::test
