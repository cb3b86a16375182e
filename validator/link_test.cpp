// Test "link": how fast the parts are connected and clocked. GPUs by NVML, InfiniBand by /sys, CPUs
// by measuring. A port that is down is a smaller number, not a failure: not every port is cabled.

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "agent/health/file_values.h"
#include "agent/health/gpu_sample.h"
#include "agent/health/ib_port.h"
#include "validator/cpu_work.h"
#include "validator/cpus.h"
#include "validator/test.h"

namespace hai::validator {

namespace {

Measurement measured(std::string metric, std::string unit, double value, std::string detail) {
  return {.test = "link",
          .metric = std::move(metric),
          .unit = std::move(unit),
          .value = value,
          .detail = std::move(detail)};
}

// GPUs slow their link down when idle; its greatest speed is what the slot and the board agreed on,
// and the width never changes.
std::vector<Measurement> gpu_links(const Settings& settings) {
  const auto nvml = NvmlLibrary::open(settings.nvml_library);
  if (!nvml.is_ok()) return {skipped({"link", "gpus"}, "no GPU")};
  unsigned count = 0;
  if (const auto code = nvml.value()->count(&count); code != nvml::kSuccess)
    return {failed({"link", "gpus"}, nvml.value()->error_text(code))};
  if (count == 0) return {skipped({"link", "gpus"}, "no GPU")};
  double width = 0, generation = 0, active_links = 0;
  for (int gpu = 0; gpu < static_cast<int>(count); ++gpu) {
    const GpuSample sample = read_gpu(*nvml.value(), gpu);
    if (sample.trouble != nvml::kSuccess)
      return {failed({"link", "gpus"}, fmt::format("GPU {}: {}", gpu, sample.trouble_text))};
    const auto lowest = [&](double& least, const std::optional<int64_t>& value) {
      if (!value) return;
      const auto now = static_cast<double>(*value);
      least = gpu == 0 ? now : std::min(least, now);
    };
    lowest(width, sample.pcie_width);
    lowest(generation, sample.pcie_generation_max);
    active_links += static_cast<double>(std::count_if(sample.nvlinks.begin(), sample.nvlinks.end(),
                                                      [](auto& link) { return link.is_active; }));
  }
  return {measured("gpus", "", count, ""), measured("gpu_pcie_width_min", "lanes", width, ""),
          measured("gpu_pcie_generation_min", "", generation, "the highest that the link can do"),
          measured("nvlinks_active", "", active_links, "")};
}

std::vector<Measurement> ib_links(const Settings& settings) {
  const std::vector<IbPort> ports = read_ib_ports(settings.sys_root, {});
  if (ports.empty()) return {skipped({"link", "ib_ports_active"}, "no InfiniBand or RoCE port")};
  int64_t rate = 0, active = 0;
  std::string down;
  for (const IbPort& port : ports) {
    if (port.is_up()) {
      ++active;
      rate += port.rate_gigabits;
    } else {
      down += fmt::format("{}{} {}", down.empty() ? "" : ", ", port.name, port.state);
    }
  }
  return {measured("ib_ports_active", "", static_cast<double>(active), down),
          measured("ib_rate", "Gb/s", static_cast<double>(rate), "of all active ports together")};
}

std::string governors(const std::string& sys_root, const std::vector<int>& cpus) {
  std::set<std::string> names;
  for (const int cpu : cpus) {
    const auto name = read_text(
        fmt::format("{}/devices/system/cpu/cpu{}/cpufreq/scaling_governor", sys_root, cpu));
    if (name) names.insert(*name);
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "governor " : "+") + name;
  return text;
}

std::vector<Measurement> cpu_frequency(const Settings& settings) {
  const std::vector<int> cpus = usable_cpus(settings.cpus);
  double least = 0;
  int slowest = -1;
  for (const int cpu : cpus) {
    double frequency = 0;
    run_on_cpus({cpu}, [&](size_t, int) { frequency = measure_frequency_gigahertz(); });
    if (frequency <= 0) continue;
    if (slowest < 0 || frequency < least) {
      least = frequency;
      slowest = cpu;
    }
  }
  std::vector<Measurement> results = {measured("cpus", "", static_cast<double>(cpus.size()), "")};
  if (slowest < 0) return results;
  const std::string governor = governors(settings.sys_root, cpus);
  results.push_back(
      measured("cpu_frequency_min", "GHz", least,
               fmt::format("CPU {}{}{}", slowest, governor.empty() ? "" : ", ", governor)));
  return results;
}

}  // namespace

std::vector<Measurement> test_link(const Settings& settings) {
  std::vector<Measurement> results = cpu_frequency(settings);
  for (const auto& part : {gpu_links(settings), ib_links(settings)})
    results.insert(results.end(), part.begin(), part.end());
  return results;
}

}  // namespace hai::validator
