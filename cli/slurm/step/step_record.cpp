#include "cli/slurm/step/step_record.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/text_check.h"

namespace hai::cli::slurm {
namespace {

using Json = nlohmann::json;

constexpr size_t kNameBytesMax = 256;
constexpr size_t kNodesBytesMax = 4'096;
constexpr size_t kSocketBytesMax = 108;
constexpr uint32_t kStepsMax = 1'000'000;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// 0 if it is not there, or no whole number from 0 on.
int64_t count_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_integer()) return 0;
  return std::max<int64_t>(0, found->get<int64_t>());
}

// It is shown on terminals, and may have been written by anybody's program.
std::string text_in(const Json& json, const char* name, size_t bytes_max) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_string()) return "";
  return printable(found->get<std::string>().substr(0, bytes_max));
}

int small_count_in(const Json& json, const char* name) {
  return static_cast<int>(std::min<int64_t>(count_in(json, name), 1'000'000'000));
}

void take_line(std::string_view line, std::map<uint32_t, StepRecord>& steps) {
  const size_t brace = line.find('{');  // after the time
  if (brace == std::string_view::npos) return;
  const Json json = Json::parse(line.substr(brace), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) return;
  const int64_t number = json["step"].get<int64_t>();
  if (number < 0 || number >= kStepsMax) return;
  StepRecord& step = steps[static_cast<uint32_t>(number)];
  step.number = static_cast<uint32_t>(number);
  if (json.contains("ended_us")) {
    step.ended_at = unix_micros(count_in(json, "ended_us"));
    step.exit_code = small_count_in(json, "exit_code");
    step.is_cancelled = json.value("cancelled", Json()) == true;
    step.used.cpu_time = count_in(json, "cpu_us") * Duration(1us);
    step.used.peak_memory_bytes = count_in(json, "peak_memory_bytes");
    return;
  }
  step.name = text_in(json, "name", kNameBytesMax);
  step.tasks = small_count_in(json, "tasks");
  step.cpus = count_in(json, "cpus");
  step.gpus = small_count_in(json, "gpus");
  step.nodes = text_in(json, "nodes", kNodesBytesMax);
  step.node_count = small_count_in(json, "node_count");
  step.socket = text_in(json, "socket", kSocketBytesMax);
  step.began_at = unix_micros(count_in(json, "began_us"));
}

}  // namespace

void TaskUsage::add(const TaskUsage& other) {
  cpu_time += other.cpu_time;
  peak_memory_bytes = std::max(peak_memory_bytes, other.peak_memory_bytes);
}

std::string record_of_begin(const StepRecord& step) {
  Json json = {{"step", step.number},   {"name", step.name.substr(0, kNameBytesMax)},
               {"tasks", step.tasks},   {"cpus", step.cpus},
               {"gpus", step.gpus},     {"node_count", step.node_count},
               {"socket", step.socket}, {"began_us", to_micros(step.began_at)}};
  if (step.nodes.size() <= kNodesBytesMax) json["nodes"] = step.nodes;
  return text_of(json);
}

std::string record_of_end(const StepRecord& step) {
  Json json = {{"step", step.number},
               {"ended_us", to_micros(step.ended_at.value_or(step.began_at))},
               {"exit_code", step.exit_code},
               {"cpu_us", step.used.cpu_time / 1us},
               {"peak_memory_bytes", step.used.peak_memory_bytes}};
  if (step.is_cancelled) json["cancelled"] = true;
  return text_of(json);
}

std::vector<StepRecord> parse_step_records(std::string_view lines) {
  std::map<uint32_t, StepRecord> steps;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    take_line(lines.substr(0, end), steps);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  std::vector<StepRecord> out;
  for (auto& [number, step] : steps) {
    // The beginnings of the oldest of very many steps are not kept.
    if (step.began_at != UnixTime{}) out.push_back(std::move(step));
  }
  return out;
}

}  // namespace hai::cli::slurm
