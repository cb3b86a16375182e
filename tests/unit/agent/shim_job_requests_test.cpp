#include "agent/shim/job_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/shim/control_requests.h"

namespace hai {
namespace {

using testing::HasSubstr;

struct FakeJobPort : JobPort {
  bool is_suspend_requested() const override { return suspend; }
  void go_suspend() override { calls.push_back("go_suspend"); }
  void report_checkpoint(int64_t step, std::string path, double seconds) override {
    calls.push_back(fmt::format("checkpoint {} {} {}", step, path, seconds));
  }
  void report_progress(int64_t step) override { calls.push_back(fmt::format("progress {}", step)); }
  Status report_metrics(const RankMetrics& metrics) override {
    if (metrics.size() > kRankMetricsMax) return invalid_argument("metrics: too many");
    for (const auto& [name, value] : metrics) {
      calls.push_back(fmt::format("metric {} {}", name, value));
    }
    return ok();
  }
  std::string whole_life_state() const override { return state; }
  void set_whole_life_state(std::string text) override { state = std::move(text); }
  void set_watchdog(Duration watchdog) override {
    calls.push_back("watchdog " + format_duration(watchdog));
  }
  Status record_step(std::string_view line) override {
    calls.push_back(fmt::format("record {}", line));
    return ok();
  }
  void note_sdk() override { uses_sdk = true; }

  bool suspend = false;
  bool uses_sdk = false;
  std::string state;
  std::vector<std::string> calls;
};

TEST(JobRequests, AnswersEachOp) {
  FakeJobPort port;
  EXPECT_EQ(answer_job_request(R"({"op":"receive_suspend_command"})", port),
            R"({"ok":true,"suspend":false})");
  port.suspend = true;
  EXPECT_EQ(answer_job_request(R"({"op":"receive_suspend_command"})", port),
            R"({"ok":true,"suspend":true})");
  EXPECT_EQ(answer_job_request(R"({"op":"go_suspend"})", port), R"({"ok":true})");
  EXPECT_EQ(
      answer_job_request(R"({"op":"report_checkpoint","step":5,"path":"/c","seconds":1.5})", port),
      R"({"ok":true})");
  EXPECT_EQ(answer_job_request(R"({"op":"report_checkpoint","step":6,"path":"/c"})", port),
            R"({"ok":true})");
  EXPECT_EQ(answer_job_request(R"({"op":"report_progress","step":7})", port), R"({"ok":true})");
  EXPECT_EQ(
      answer_job_request(R"({"op":"report_metrics","metrics":{"loss":-0.5,"lr/head":1}})", port),
      R"({"ok":true})");
  EXPECT_EQ(answer_job_request(R"({"op":"set_watchdog_time","seconds":90})", port),
            R"({"ok":true})");
  EXPECT_EQ(answer_job_request(R"({"op":"get_whole_life_state"})", port),
            R"({"ok":true,"state":""})");
  EXPECT_EQ(answer_job_request(R"({"op":"set_whole_life_state","state":"a\"b"})", port),
            R"({"ok":true})");
  EXPECT_EQ(answer_job_request(R"({"op":"get_whole_life_state"})", port),
            R"({"ok":true,"state":"a\"b"})");
  EXPECT_THAT(
      port.calls,
      testing::ElementsAre("go_suspend", "checkpoint 5 /c 1.5", "checkpoint 6 /c 0", "progress 7",
                           "metric loss -0.5", "metric lr/head 1", "watchdog 1m30s"));
}

// What started the programs speaks here, and they would still not hear of a suspend request.
TEST(JobRequests, ARecordOfAStepIsNotAWordOfAProgram) {
  FakeJobPort port;
  EXPECT_EQ(answer_job_request(R"({"op":"record_step","record":{"step":0,"name":"a\nb"}})", port),
            R"({"ok":true})");
  EXPECT_THAT(port.calls, testing::ElementsAre(R"(record {"name":"a\nb","step":0})"));
  EXPECT_FALSE(port.uses_sdk);
  EXPECT_THAT(answer_job_request(R"({"op":"record_step","record":[1]})", port),
              HasSubstr("record must be an object"));
  const std::string large(kStepRecordBytesMax, 'x');
  EXPECT_THAT(
      answer_job_request(R"({"op":"record_step","record":{"name":")" + large + "\"}}", port),
      HasSubstr("bytes, at most 8192"));
  EXPECT_EQ(port.calls.size(), 1u);
  answer_job_request(R"({"op":"receive_suspend_command"})", port);
  EXPECT_TRUE(port.uses_sdk);
}

TEST(JobRequests, RefusesJunkWithAnError) {
  FakeJobPort port;
  const std::string deep = std::string(100'000, '[');
  for (const std::string& line : std::vector<std::string>{
           "",
           "junk",
           "[]",
           "1",
           "null",
           "{",
           "\xff\xfe",
           deep,
           R"({"op":1})",
           R"({"op":"nonsense"})",
           "{}",
           R"({"op":"report_checkpoint"})",
           R"({"op":"report_checkpoint","step":"5","path":"/c"})",
           R"({"op":"report_checkpoint","step":1e99,"path":"/c"})",
           R"({"op":"report_checkpoint","step":99999999999999999999,"path":"/c"})",
           R"({"op":"report_checkpoint","step":18446744073709551615,"path":"/c"})",
           R"({"op":"report_checkpoint","step":-1,"path":"/c"})",
           R"({"op":"report_checkpoint","step":1,"path":"/c","seconds":-1})",
           R"({"op":"report_checkpoint","step":1,"path":"/c","seconds":"x"})",
           R"({"op":"report_progress"})",
           R"({"op":"report_progress","step":null})",
           R"({"op":"report_metrics"})",
           R"({"op":"report_metrics","metrics":[1]})",
           R"({"op":"report_metrics","metrics":{"loss":"low"}})",
           R"({"op":"report_metrics","metrics":{"loss":NaN}})",
           R"({"op":"report_metrics","metrics":{"loss":1e999}})",
           R"({"op":"report_metrics","metrics":{"two words":1}})",
           R"({"op":"report_metrics","metrics":{"":1}})",
           R"({"op":"set_whole_life_state"})",
           R"({"op":"set_whole_life_state","state":5})",
           R"({"op":"set_watchdog_time","seconds":1e300})"}) {
    const std::string answer = answer_job_request(line, port);
    EXPECT_THAT(answer, HasSubstr(R"("ok":false)")) << line.substr(0, 80);
    EXPECT_THAT(answer, HasSubstr(R"("error":")")) << line.substr(0, 80);
    EXPECT_EQ(answer.find('\n'), std::string::npos);
  }
  EXPECT_TRUE(port.calls.empty());
}

TEST(JobRequests, SaysThatThereAreTooManyMetrics) {
  FakeJobPort port;
  std::string metrics;
  for (char name = 'a'; name <= 'i'; ++name) metrics += fmt::format(R"(,"{}":1)", name);
  const std::string line = R"({"op":"report_metrics","metrics":{)" + metrics.substr(1) + "}}";
  EXPECT_THAT(answer_job_request(line, port), HasSubstr("metrics: too many"));
}

TEST(JobRequests, BoundsTheState) {
  FakeJobPort port;
  const auto set = [&](size_t bytes) {
    return answer_job_request(
        R"({"op":"set_whole_life_state","state":")" + std::string(bytes, 'x') + "\"}", port);
  };
  EXPECT_EQ(set(kWholeLifeStateBytesMax), R"({"ok":true})");
  EXPECT_THAT(set(kWholeLifeStateBytesMax + 1), HasSubstr("65537 bytes, at most 65536"));
  EXPECT_EQ(port.state.size(), kWholeLifeStateBytesMax);
}

struct FakeControlPort : ControlPort {
  void suspend(Duration grace, bool tell_by_signal) override {
    calls.push_back("suspend " + format_duration(grace) + (tell_by_signal ? " told" : ""));
  }
  void go_on() override { calls.push_back("continue"); }
  void kill() override { calls.push_back("kill"); }
  void extend_lease(MonoTime until) override {
    calls.push_back(fmt::format("lease {}", until.time_since_epoch().count()));
  }
  void write_log(const std::string& text) override { calls.push_back("note " + text); }
  std::vector<std::string> calls;
};

TEST(ControlRequests, CarriesOutOrRefuses) {
  FakeControlPort port;
  for (const char* line : {R"({"op":"suspend","grace_us":1000000})", R"({"op":"continue"})",
                           R"({"op":"kill"})", R"({"op":"lease","until_boottime_us":42})"}) {
    EXPECT_EQ(answer_control_request(line, port), R"({"ok":true})");
  }
  for (const char* line :
       {"", "[]", "{}", R"({"op":3})", R"({"op":"suspend"})", R"({"op":"suspend","grace_us":"1"})",
        R"({"op":"lease"})", R"({"op":"x"})"}) {
    EXPECT_THAT(answer_control_request(line, port), HasSubstr(R"("ok":false)")) << line;
  }
  EXPECT_THAT(port.calls, testing::ElementsAre("suspend 1s", "continue", "kill", "lease 42"));
}

}  // namespace
}  // namespace hai
