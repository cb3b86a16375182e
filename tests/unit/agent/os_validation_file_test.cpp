#include "agent/os/validation_file.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

constexpr const char* kReport = R"({"node":"n","profile":"full","verdict":"fail","tests":[
  {"name":"cpu","metric":"triad","unit":"GB/s","value":12.5,"higher_is_better":true,
   "verdict":"ok","detail":""},
  {"name":"storage","metric":"write_bandwidth","unit":"","value":null,"higher_is_better":true,
   "verdict":"fail","detail":"/data: No such file or directory"}]})";

TEST(ValidationFile, GivesWhatEachTestMeasuredOrWhyItFailed) {
  const Result<std::vector<Measurement>> read = measurements_from_json(kReport);
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  const std::vector<Measurement> expected{
      {"cpu", "triad", "GB/s", 12.5, true, CheckVerdict::ok, ""},
      {"storage", "write_bandwidth", "", 0, true, CheckVerdict::fail,
       "/data: No such file or directory"}};
  EXPECT_EQ(read.value(), expected);
}

TEST(ValidationFile, SaysWhatIsNoReport) {
  for (const char* text : {"", "{", "{}", R"({"tests": 3})", R"({"tests": [{"name": "cpu"}]})"}) {
    EXPECT_EQ(measurements_from_json(text).status().code(), Code::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace hai
