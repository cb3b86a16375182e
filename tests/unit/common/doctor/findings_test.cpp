#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "common/doctor/finding.h"
#include "common/doctor/look.h"

namespace hai {
namespace {

using ::testing::HasSubstr;

std::vector<Finding> some() {
  return {{"server", "disk", Verdict::ok, "/: 7 of 9 MiB free", ""},
          {"agent", "clock", Verdict::warn, "\"late\"\n", "chrony"},
          {"client", "server", Verdict::fail, "nobody\tanswers", "start it"}};
}

TEST(Findings, ComeBackFromJson) {
  const Result<std::vector<Finding>> read = parse_findings(format_findings(some()));
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_EQ(read.value(), some());
  EXPECT_TRUE(parse_findings(format_findings({})).value().empty());
}

TEST(Findings, RefuseWhatIsNone) {
  for (const char* text : {"", "{}", "[1]", "[{}]", "[{\"verdict\": \"good\"}]",
                           "[{\"verdict\": \"ok\", \"found\": 3}]"}) {
    EXPECT_FALSE(parse_findings(text).is_ok()) << text;
  }
}

TEST(Findings, FailureDecidesTheExitCode) {
  EXPECT_EQ(exit_code_of(some()), 1);
  EXPECT_EQ(exit_code_of({some()[0], some()[1]}), 0);
  EXPECT_EQ(exit_code_of({}), 0);
}

TEST(Findings, AreOneLineEachForPeople) {
  const std::string text = describe_findings(some());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;  // two with remedies
  EXPECT_THAT(text, HasSubstr("fail  client  server        nobody answers\n"));
  EXPECT_THAT(text, HasSubstr("do: start it\n"));
}

TEST(RunChecks, OneThatHangsOrCrashesHarmsNoOther) {
  const std::vector<DoctorCheck> checks = {
      {"hangs",
       []() -> std::vector<Finding> {
         while (true) ::pause();
       },
       200ms},
      {"crashes", []() -> std::vector<Finding> { std::abort(); }},
      {"works", [] {
         return std::vector{all_well("here"), warning("there", "go")};
       }}};
  const std::vector<Finding> found = run_checks("agent", checks);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].verdict, Verdict::fail);
  EXPECT_THAT(found[0].found, HasSubstr("no answer within 200ms"));
  EXPECT_EQ(found[1].verdict, Verdict::fail);
  EXPECT_EQ(found[2], (Finding{"agent", "works", Verdict::ok, "here", ""}));
  EXPECT_EQ(found[3].verdict, Verdict::warn);
}

TEST(Look, PortsThatNobodyListensAt) {
  const Finding found = look_at_port({.address = "127.0.0.1:1", .ca = {}, .remedy = "start it"});
  EXPECT_EQ(found.verdict, Verdict::fail);
  EXPECT_EQ(found.remedy, "start it");
}

TEST(Look, Accounts) {
  EXPECT_EQ(look_at_account("root", "make it").verdict, Verdict::ok);
  EXPECT_EQ(look_at_account("no-such-account", "make it").remedy, "make it");
}

TEST(Look, DisksOfFoldersThatAreNotThereYet) {
  const std::vector<Finding> found = look_at_disks({"", "/no/such/folder", "/proc"});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].found, testing::StartsWith("/: "));
}

TEST(Look, CertificatesThatAreNotThere) {
  EXPECT_TRUE(look_at_certificate("", {}, "").empty());
  EXPECT_EQ(look_at_certificate("/no/such.crt", {}, "issue it").front().verdict, Verdict::fail);
}

}  // namespace
}  // namespace hai
