// What a program says to its shim over the job socket, what an agent says to it over the control
// socket, and the lines that a shim says back. Each gets an answer of one line, whatever it is.

#include <cmath>
#include <nlohmann/json.hpp>

#include "agent/os/status_json.h"
#include "agent/shim/control_requests.h"
#include "agent/shim/job_requests.h"
#include "tests/fuzz/fuzz_target.h"

namespace hai::fuzz {
namespace {

// Judges what gets through: nobody behind this checks again.
class Port final : public JobPort, public ControlPort {
 public:
  bool is_suspend_requested() const override { return true; }
  void go_suspend() override {}
  void report_checkpoint(int64_t step, std::string path, double save_seconds) override {
    if (step < 0) broken("a checkpoint of a negative step");
    if (path.size() > kCheckpointPathBytesMax) broken("a path that is too long");
    if (!(save_seconds >= 0 && save_seconds < 1e9)) broken("an odd time to save");
  }
  void report_progress(int64_t step) override {
    if (step < 0) broken("a negative step");
  }
  Status report_metrics(const RankMetrics& metrics) override {
    for (const auto& [name, value] : metrics) {
      if (!is_rank_metric_name(name) || !std::isfinite(value)) broken("an odd metric");
    }
    return ok();
  }
  std::string whole_life_state() const override { return state_; }
  void set_whole_life_state(std::string state) override {
    if (state.size() > kWholeLifeStateBytesMax) broken("a state that is too large");
    state_ = std::move(state);
  }
  void set_watchdog(Duration watchdog) override {
    if (watchdog < 0s || watchdog > 24h * 366) broken("an odd watchdog");
  }
  Status record_step(std::string_view line) override {
    if (line.size() > kStepRecordBytesMax) broken("a record that is too long");
    if (line.find('\n') != std::string_view::npos) broken("a record of several lines");
    return ok();
  }
  void note_sdk() override {}

  void suspend(Duration grace, bool) override {
    if (grace < 0s || grace > 24h * 366) broken("an odd grace");
  }
  void go_on() override {}
  void kill() override {}
  void extend_lease(MonoTime) override {}
  void write_log(const std::string&) override {}

 private:
  std::string state_ = "before";
};

void judge_answer(const std::string& answer) {
  if (answer.find('\n') != std::string::npos) broken("an answer of several lines: " + answer);
  const auto json = nlohmann::json::parse(answer, nullptr, false);
  if (!json.is_object() || !json.contains("ok")) broken("an answer that is none: " + answer);
  if (json["ok"] == false) judge_reason(json["error"].get<std::string>());
}

void try_status(std::string_view line) {
  const Result<std::optional<RankStatus>> read = parse_status_line(line);
  if (!read.is_ok() || !read.value()) return;
  const std::string own = make_status_line(*read.value());
  const Result<std::optional<RankStatus>> again = parse_status_line(own);
  if (!again.is_ok() || !again.value()) broken("its own line is refused: " + own);
  if (make_status_line(*again.value()) != own) broken("it comes back changed: " + own);
}

// A connection that goes on for some lines.
void run(std::string_view input) {
  const size_t choice = take_choice(input, 3);
  Port port;
  for (int lines = 0; lines < 32 && !input.empty(); ++lines) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(line.size() + 1, input.size()));
    if (choice == 0) judge_answer(answer_job_request(line, port));
    if (choice == 1) judge_answer(answer_control_request(line, port));
    if (choice == 2) try_status(line);
  }
}

}  // namespace
}  // namespace hai::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hai::fuzz::run(hai::fuzz::text_of(data, size));
  return 0;
}
