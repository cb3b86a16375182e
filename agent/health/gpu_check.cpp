#include "agent/health/gpu_check.h"

#include <algorithm>

#include "agent/health/file_values.h"
#include "agent/health/results.h"
#include "common/count_of.h"

namespace hai {

namespace {

// Processes of no rank on a GPU that no rank uses.
std::vector<pid_t> find_strays(const GpuSample& gpu, const NodeUse& use) {
  std::vector<pid_t> strays;
  if (!gpu.compute_pids || use.gpus_in_use.contains(gpu.index)) return strays;
  for (const pid_t pid : *gpu.compute_pids) {
    if (std::find(use.rank_pids.begin(), use.rank_pids.end(), pid) == use.rank_pids.end())
      strays.push_back(pid);
  }
  return strays;
}

bool needs_reset(const GpuSample& gpu) {
  return gpu.trouble != nvml::kSuccess || gpu.recovery_action.value_or(0) != 0 ||
         (gpu.remapped_rows && gpu.remapped_rows->is_pending);
}

}  // namespace

GpuCheck::GpuCheck(GpuCheckOptions options)
    : Check("gpu", {.period = 15s, .deadline = 10s}), options_(std::move(options)) {}

std::vector<CheckResult> GpuCheck::run(const CheckInput& input) {
  if (options_.expected_gpus < 0) guess_expectation();
  if (nvml_ == nullptr) {
    Result<std::unique_ptr<NvmlLibrary>> opened = NvmlLibrary::open(options_.nvml_library);
    if (!opened.is_ok()) {
      show({});
      return judge_absence(opened.status());
    }
    nvml_ = std::move(opened).value();
  }
  std::vector<CheckResult> results = look(input);
  // A GPU cannot be reset while somebody holds NVML open, and one that comes back is seen only by
  // who opens it anew.
  const bool holds_up = std::any_of(gpus_.begin(), gpus_.end(), [](const auto& entry) {
    return needs_reset(entry.second.last());
  });
  show(gpus_);
  if (holds_up || static_cast<int>(gpus_.size()) < options_.expected_gpus) nvml_.reset();
  return results;
}

// A GPU that has fallen off the bus is not listed after a restart either.
void GpuCheck::guess_expectation() {
  is_expectation_guessed_ = true;
  const auto listed =
      static_cast<int64_t>(list_folder(options_.proc_root + "/driver/nvidia/gpus").size());
  const int64_t before = number_of(remembered_.lasting, "", "gpus").value_or(0);
  options_.expected_gpus =
      static_cast<int>(std::min<int64_t>(std::max(before, listed), GpuSet::kMax));
}

GpuHistory& GpuCheck::history_of(int index) {
  const auto [entry, is_new] = gpus_.try_emplace(index);
  if (is_new) entry->second.restore(gpu_subject(index), remembered_);
  return entry->second;
}

// What a GPU could do before it went is what it should do when it is back.
void GpuCheck::forget_from(int found) {
  for (auto gpu = gpus_.lower_bound(found); gpu != gpus_.end(); gpu = gpus_.erase(gpu)) {
    CheckMemory memory;
    const std::string subject = gpu_subject(gpu->first);
    gpu->second.remember(subject, memory);
    remembered_.lasting[subject] = std::move(memory.lasting[subject]);
    remembered_.of_boot.erase(subject);
  }
}

CheckMemory GpuCheck::memory() const {
  CheckMemory memory;
  for (const auto& [index, history] : gpus_) history.remember(gpu_subject(index), memory);
  CheckFacts away = remembered_.lasting;
  away.erase("");
  memory.lasting.merge(away);  // of GPUs that are there the newer facts stay
  if (is_expectation_guessed_ && options_.expected_gpus > 0)
    memory.lasting[""]["gpus"] = {options_.expected_gpus};
  return memory;
}

void GpuCheck::show(const std::map<int, GpuHistory>& gpus) const {
  if (options_.board == nullptr) return;
  const auto to_int = [](const std::optional<int64_t>& value, int64_t max) -> std::optional<int> {
    if (!value) return std::nullopt;
    return static_cast<int>(std::clamp<int64_t>(*value, 0, max));
  };
  std::vector<GpuReading> readings;
  for (const auto& [index, history] : gpus) {  // from 0 on, without gaps
    const GpuSample& gpu = history.last();
    std::optional<int64_t> watts = gpu.power_milliwatts;
    if (watts) *watts = (*watts + 500) / 1'000;
    readings.push_back({.utilization_percent = to_int(gpu.utilization_percent, 100),
                        .temperature_celsius = to_int(gpu.temperature_celsius, 1'000),
                        .memory_percent = to_int(gpu.memory_percent, 100),
                        .power_watts = to_int(watts, kGpuWattsMax)});
  }
  options_.board->set(std::move(readings));
}

std::vector<CheckResult> GpuCheck::judge_absence(const Status& status) const {
  const CheckSubject about{.name = "gpu_count", .subject = {}, .gpus = {}};
  // A library that is there but does not work, where there should be GPUs: no program can use them
  // either.
  if (status.code() != Code::not_found && options_.expected_gpus > 0) {
    return {make_fail(
        about, HealthTier::evict,
        {.summary = fmt::format("{} expected, and {}", count_of(options_.expected_gpus, "GPU"),
                                status.message()),
         .remedy = "load the driver, or reboot"})};
  }
  if (options_.expected_gpus > 0) {
    return {make_unknown(about, {.summary = status.message(),
                                 .remedy = "install NVIDIA's driver library, or name it: "
                                           "health.nvml_library"})};
  }
  return {make_unknown(about, {.summary = "no GPUs here",
                               .remedy = "none; if it should have some: health.expect.gpus"})};
}

std::vector<CheckResult> GpuCheck::look(const CheckInput& input) {
  unsigned count = 0;
  const nvml::Return code = nvml_->count(&count);
  if (code != nvml::kSuccess) {
    const Status status = unavailable("NVML: {}", nvml_->error_text(code));
    nvml_.reset();
    forget_from(0);
    show({});
    return judge_absence(status);
  }
  const int found = std::min(static_cast<int>(count), GpuSet::kMax);
  if (options_.expected_gpus == 0 && is_expectation_guessed_) options_.expected_gpus = found;
  std::vector<CheckResult> results = {judge_gpu_count(found, options_.expected_gpus)};
  const GpuExpectation expected{
      .pcie_width = options_.expected_pcie_width,
      .has_nvswitch = !list_folder(options_.proc_root + "/driver/nvidia-nvswitch/devices").empty(),
      .nvlinks = options_.expected_nvlinks};
  forget_from(found);
  for (int index = 0; index < found; ++index) {
    GpuHistory& history = history_of(index);
    history.add(input.now, read_gpu(*nvml_, index), options_.limits);
    history.set_strays(input.now, find_strays(history.last(), input.use));
    std::vector<CheckResult> judged = judge_gpu(history, expected, options_.limits, input.now);
    results.insert(results.end(), judged.begin(), judged.end());
  }
  return results;
}

}  // namespace hai
