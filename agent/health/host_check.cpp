#include "agent/health/host_check.h"

#include <sstream>

#include "agent/health/file_values.h"
#include "agent/health/results.h"

namespace hai {

namespace {

CheckFinding kernel_is_silent() {
  return {.summary = "the kernel does not tell",
          .remedy = "look whether /sys and /proc are mounted"};
}

// "MemTotal:", "MemAvailable:"
std::optional<int64_t> memory_bytes(const std::string& proc_root, std::string_view field) {
  std::istringstream words(read_text(proc_root + "/meminfo").value_or(""));
  for (std::string word; words >> word;) {
    int64_t kibibytes = 0;
    if (word == field && words >> kibibytes) return kibibytes * 1'024;
  }
  return std::nullopt;
}

// What a node without ranks has in use was left behind: a rank that counts on the whole node is
// killed for want of it, hours later.
CheckResult judge_free_memory(const std::string& proc_root, const NodeUse& use,
                              const HealthLimits& limits) {
  const CheckSubject about{.name = "memory_free", .subject = {}, .gpus = {}};
  const std::optional<int64_t> total = memory_bytes(proc_root, "MemTotal:");
  const std::optional<int64_t> free = memory_bytes(proc_root, "MemAvailable:");
  if (!total || !free) return make_unknown(about, kernel_is_silent());
  const int64_t percent = *total > 0 ? *free * 100 / *total : 0;
  if (!use.rank_pids.empty() || percent >= limits.memory_free_percent)
    return make_ok(about, fmt::format("{} % free", percent));
  return make_warn(about, {.summary = fmt::format("{} % free and no rank runs, limit {} %", percent,
                                                  limits.memory_free_percent),
                           .remedy = "look into /dev/shm and for processes that no job has"});
}

}  // namespace

HostCheck::HostCheck(HostCheckOptions options)
    : Check("host", {.period = 30s, .deadline = 5s}), options_(std::move(options)) {}

std::vector<CheckResult> HostCheck::run(const CheckInput& input) {
  std::vector<CheckResult> results = judge_all_versions();
  results.push_back(judge_all_cpus());
  results.push_back(judge_all_memory());
  results.push_back(judge_free_memory(options_.proc_root, input.use, options_.limits));
  results.push_back(judge_clock());
  results.push_back(judge_clock_skew(input.use.server_skew, options_.limits));
  add_memory_errors(input.now, results);
  return results;
}

CheckResult HostCheck::judge_all_cpus() const {
  const std::string folder = options_.sys_root + "/devices/system/cpu/";
  const std::optional<int64_t> online = count_cpu_list(read_text(folder + "online").value_or("?"));
  const std::optional<int64_t> present =
      count_cpu_list(read_text(folder + "present").value_or("?"));
  if (!online || !present) {
    return make_unknown({.name = "cpu_count", .subject = {}, .gpus = {}}, kernel_is_silent());
  }
  return judge_cpus(*online, *present, options_.expected_cpus);
}

CheckResult HostCheck::judge_all_memory() const {
  const std::optional<int64_t> total = memory_bytes(options_.proc_root, "MemTotal:");
  if (total) return judge_memory(*total, options_.expected_memory_bytes, options_.limits);
  return make_unknown({.name = "memory_size", .subject = {}, .gpus = {}}, kernel_is_silent());
}

CheckResult HostCheck::judge_clock() const {
  const std::optional<std::string> current =
      read_text(options_.sys_root + "/devices/system/clocksource/clocksource0/current_clocksource");
  if (!current) {
    return make_unknown({.name = "clock_source", .subject = {}, .gpus = {}}, kernel_is_silent());
  }
  return judge_clock_source(*current, options_.expected_clock_source);
}

void HostCheck::add_memory_errors(MonoTime now, std::vector<CheckResult>& results) {
  const std::string folder = options_.sys_root + "/devices/system/edac/mc";
  bool is_any = false;
  for (const std::string& name : list_folder(folder)) {
    const std::optional<int64_t> corrected = read_integer(folder + "/" + name + "/ce_count");
    const std::optional<int64_t> uncorrected = read_integer(folder + "/" + name + "/ue_count");
    if (!name.starts_with("mc") || !corrected || !uncorrected) continue;
    is_any = true;
    controllers_[name].add(now, {.corrected = *corrected, .uncorrected = *uncorrected});
    results.push_back(judge_edac(name, controllers_[name], options_.limits));
  }
  if (!is_any) {
    results.push_back(make_unknown({.name = "memory_errors", .subject = {}, .gpus = {}},
                                   {.summary = "the kernel does not count them (no EDAC)",
                                    .remedy = "load the EDAC driver of its processors"}));
  }
}

std::vector<CheckResult> HostCheck::judge_all_versions() const {
  if (options_.manifest.empty()) return judge_versions({}, {});
  const std::optional<std::string> text = read_text(options_.manifest);
  if (!text) {
    return {make_unknown({.name = "version", .subject = {}, .gpus = {}},
                         {.summary = fmt::format("cannot read {}", options_.manifest),
                          .remedy = "put the manifest there, or correct health.manifest"})};
  }
  Versions found = {{"agent", options_.agent_version}};
  const std::string driver = nvidia_driver_version(options_.sys_root, options_.proc_root);
  if (!driver.empty()) found["nvidia_driver"] = driver;
  const std::optional<std::string> kernel = read_text(options_.proc_root + "/sys/kernel/osrelease");
  if (kernel) found["kernel"] = *kernel;
  return judge_versions(found, parse_manifest(*text));
}

std::string nvidia_driver_version(const std::string& sys_root, const std::string& proc_root) {
  if (const auto version = read_text(sys_root + "/module/nvidia/version")) return *version;
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 …"
  std::istringstream words(read_text(proc_root + "/driver/nvidia/version").value_or(""));
  for (std::string word; words >> word;) {
    const bool is_version = word.find_first_not_of("0123456789.") == std::string::npos &&
                            word.find('.') != std::string::npos;
    if (is_version) return word;
  }
  return {};
}

}  // namespace hai
