#include "common/doctor/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr UnixTime kNow = unix_micros(1'800'000'000'000'000);
constexpr Duration kDay = 24h;

Verdict of_disk(uint64_t free_bytes, uint64_t free_files = 500, uint64_t files = 1000) {
  return judge_disk("/var", {free_bytes, 100 * kGiB, free_files, files}).verdict;
}

TEST(Judge, Disk) {
  EXPECT_EQ(of_disk(50 * kGiB), Verdict::ok);
  EXPECT_EQ(of_disk(9 * kGiB), Verdict::warn);
  EXPECT_EQ(of_disk(kGiB / 2), Verdict::fail);
  EXPECT_EQ(of_disk(50 * kGiB, 99), Verdict::warn);
  EXPECT_EQ(of_disk(50 * kGiB, 9), Verdict::fail);
  EXPECT_EQ(of_disk(50 * kGiB, 0, 0), Verdict::ok) << "a file system that does not count files";
  // A small disk that is half free is full soon all the same.
  EXPECT_EQ(judge_disk("/var", {kGiB / 2, kGiB, 1, 1}).verdict, Verdict::warn);
  EXPECT_EQ(judge_disk("/var", {kGiB / 20, kGiB / 10, 1, 1}).verdict, Verdict::fail);
}

TEST(Judge, Clock) {
  EXPECT_EQ(judge_clock(true).verdict, Verdict::ok);
  EXPECT_EQ(judge_clock(false).verdict, Verdict::warn);
  EXPECT_EQ(judge_clock_difference("db", 900ms).verdict, Verdict::ok);
  EXPECT_EQ(judge_clock_difference("db", -900ms).verdict, Verdict::ok);
  const Finding behind = judge_clock_difference("db", -1500ms);
  EXPECT_EQ(behind.verdict, Verdict::warn);
  EXPECT_EQ(behind.found, "1.5 s behind that of db");
  EXPECT_EQ(judge_clock_difference("db", 60s).verdict, Verdict::fail);
}

CertificateFacts certificate(Duration age, Duration left) {
  CertificateFacts facts;
  facts.names = {"hai.example", "*.rack.example", "10.0.0.1"};
  facts.begins = kNow - age;
  facts.ends = kNow + left;
  return facts;
}

Finding of_certificate(Duration age, Duration left, const std::vector<std::string>& names = {}) {
  return judge_certificate("s.crt", certificate(age, left), kNow, names, "issue another one");
}

TEST(Judge, Certificate) {
  EXPECT_EQ(of_certificate(kDay, 300 * kDay).verdict, Verdict::ok);
  EXPECT_EQ(of_certificate(350 * kDay, 15 * kDay).verdict, Verdict::warn);
  EXPECT_EQ(of_certificate(400 * kDay, -kDay).verdict, Verdict::fail);
  EXPECT_EQ(of_certificate(-kDay, 100 * kDay).remedy, "set this machine's clock");
  // One of 30 days that the agent renews at two thirds.
  EXPECT_EQ(of_certificate(15 * kDay, 15 * kDay).verdict, Verdict::ok);
  EXPECT_EQ(of_certificate(25 * kDay, 5 * kDay).verdict, Verdict::warn);
}

TEST(Judge, NamesOfACertificate) {
  EXPECT_EQ(of_certificate(kDay, 300 * kDay, {"HAI.example", "10.0.0.1"}).verdict, Verdict::ok);
  EXPECT_EQ(of_certificate(kDay, 300 * kDay, {"a.rack.example"}).verdict, Verdict::ok);
  EXPECT_EQ(of_certificate(kDay, 300 * kDay, {"a.b.rack.example"}).verdict, Verdict::fail);
  EXPECT_THAT(of_certificate(kDay, 300 * kDay, {"hai.example", "other"}).found,
              HasSubstr("is for hai.example, *.rack.example, 10.0.0.1, not for other"));
}

TEST(Judge, Unit) {
  const std::string unit = "hai-agent.service";
  EXPECT_EQ(judge_unit(unit, {"loaded", "enabled", "active"}).verdict, Verdict::ok);
  EXPECT_EQ(judge_unit(unit, {"not-found", "", "inactive"}).verdict, Verdict::warn);
  EXPECT_EQ(judge_unit(unit, {"loaded", "enabled", "failed"}).remedy,
            "journalctl -u hai-agent.service says why");
  EXPECT_EQ(judge_unit(unit, {"loaded", "disabled", "inactive"}).remedy,
            "systemctl enable --now hai-agent.service");
  EXPECT_EQ(judge_unit(unit, {"loaded", "disabled", "active"}).verdict, Verdict::warn);
}

}  // namespace
}  // namespace hai
