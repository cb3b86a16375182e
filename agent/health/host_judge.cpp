#include "agent/health/host_judge.h"

#include <sstream>

#include "agent/health/file_values.h"
#include "agent/health/ib_judge.h"
#include "agent/health/results.h"
#include "common/whole_number.h"

namespace hai {

namespace {

constexpr int64_t kCpusMax = 1 << 16;
constexpr size_t kHostStepsMax = 1'000;

CheckSubject node(const char* name) { return {.name = name, .subject = {}, .gpus = {}}; }

int64_t gibibytes(int64_t bytes) { return bytes >> 30; }

}  // namespace

std::optional<int64_t> count_cpu_list(const std::string& text) {
  int64_t count = 0;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t dash = part.find('-');
    const std::optional<int64_t> first = whole_number(part.substr(0, dash));
    const std::optional<int64_t> last =
        dash == std::string::npos ? first : whole_number(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > kCpusMax) return std::nullopt;
    count += *last - *first + 1;
  }
  return count;
}

CheckResult judge_cpus(int64_t online, int64_t present, int64_t expected) {
  const int64_t want = expected > 0 ? expected : present;
  const std::string summary = fmt::format("{} CPUs online, expected {}", online, want);
  if (online >= want) return make_ok(node("cpu_count"), summary);
  return make_fail(node("cpu_count"), HealthTier::validate,
                   {.summary = summary, .remedy = "reboot, then service"});
}

CheckResult judge_memory(int64_t bytes, int64_t expected_bytes, const HealthLimits& limits) {
  const CheckSubject about = node("memory_size");
  if (expected_bytes == 0) return make_ok(about, fmt::format("{} GiB", gibibytes(bytes)));
  const std::string summary = fmt::format("{} GiB, expected {} GiB, limit {} %", gibibytes(bytes),
                                          gibibytes(expected_bytes), limits.memory_percent);
  const double percent = 100.0 * static_cast<double>(bytes) / static_cast<double>(expected_bytes);
  if (percent < static_cast<double>(limits.memory_percent))
    return make_fail(about, HealthTier::validate,
                     {.summary = summary, .remedy = "service: memory"});
  return make_ok(about, summary);
}

CheckResult judge_clock_source(const std::string& current, const std::string& expected) {
  const CheckSubject about = node("clock_source");
  if (!expected.empty() && current != expected) {
    return make_fail(
        about, HealthTier::validate,
        {.summary = fmt::format("{}, expected {}", current, expected), .remedy = "reboot"});
  }
  // The kernel falls back to these when it no longer trusts the processor's counter; each reading
  // then costs a microsecond and more.
  const bool is_slow =
      current == "hpet" || current == "acpi_pm" || current == "jiffies" || current == "pit";
  if (expected.empty() && is_slow) {
    return make_fail(
        about, HealthTier::validate,
        {.summary = fmt::format("{}: the kernel has given up the processor's own", current),
         .remedy = "reboot"});
  }
  return make_ok(about, current);
}

CheckResult judge_clock_skew(const std::optional<Duration>& skew, const HealthLimits& limits) {
  const CheckSubject about = node("clock_skew");
  if (!skew) {
    return make_unknown(about, {.summary = "not known without a server",
                                .remedy = "none; the agent knows it once a server has answered"});
  }
  const int64_t off_ms = std::abs(skew->count()) / 1'000;
  const std::string summary =
      fmt::format("{} ms from the server's clock, limit {} ms", off_ms, limits.clock_skew_ms);
  if (off_ms <= limits.clock_skew_ms) return make_ok(about, summary);
  return make_warn(about, {.summary = summary, .remedy = "look at NTP, here and on the server"});
}

void EdacHistory::add(MonoTime now, const EdacSample& sample) {
  const int64_t added = is_known_ ? counted_since(last_.corrected, sample.corrected) : 0;
  if (added > 0) corrected_.emplace_back(now, added);
  while (!corrected_.empty() &&
         (now - corrected_.front().first > 1h || corrected_.size() > kHostStepsMax))
    corrected_.pop_front();
  last_ = sample;
  is_known_ = true;
}

int64_t EdacHistory::corrected_in_last_hour() const {
  int64_t sum = 0;
  for (const auto& [at, count] : corrected_) sum += count;
  return sum;
}

CheckResult judge_edac(const std::string& controller, const EdacHistory& history,
                       const HealthLimits& limits) {
  const CheckSubject about{.name = "memory_errors", .subject = controller, .gpus = {}};
  if (history.last().uncorrected > 0) {
    return make_fail(about, HealthTier::drain,
                     {.summary = fmt::format("{} uncorrectable memory errors since boot",
                                             history.last().uncorrected),
                      .remedy = "service: memory"});
  }
  const int64_t corrected = history.corrected_in_last_hour();
  const std::string summary = fmt::format("{} corrected memory errors in an hour, limit {}",
                                          corrected, limits.memory_corrected_per_hour);
  if (corrected <= limits.memory_corrected_per_hour) return make_ok(about, summary);
  return make_warn(about, {.summary = summary, .remedy = "service: memory"});
}

std::vector<CheckResult> judge_versions(const Versions& found, const Versions& manifest) {
  std::vector<CheckResult> results;
  for (const auto& [name, want] : manifest) {
    const CheckSubject about{.name = "version", .subject = name, .gpus = {}};
    const auto have = found.find(name);
    if (have == found.end()) {
      results.push_back(make_unknown(
          about, {.summary = fmt::format("not found, expected {}", want),
                  .remedy = fmt::format("install {} {}, or correct the manifest", name, want)}));
    } else if (have->second == want) {
      results.push_back(make_ok(about, want));
    } else {
      const CheckFinding finding{.summary = fmt::format("{}, expected {}", have->second, want),
                                 .remedy = fmt::format("install {} {}", name, want)};
      // Another agent is a nuisance; another driver makes a rank unlike its peers.
      results.push_back(name == "agent" ? make_warn(about, finding)
                                        : make_fail(about, HealthTier::validate, finding));
    }
  }
  if (results.empty()) {
    results.push_back(make_ok({.name = "version", .subject = {}, .gpus = {}}, "no manifest"));
  }
  return results;
}

Versions parse_manifest(const std::string& text) {
  static constexpr size_t kEntriesMax = 32;
  Versions versions;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && versions.size() < kEntriesMax;) {
    const std::string_view content = trimmed(std::string_view(line).substr(0, line.find('#')));
    const size_t colon = content.find(':');
    if (colon == std::string_view::npos) continue;
    versions[std::string(trimmed(content.substr(0, colon)))] =
        std::string(trimmed(content.substr(colon + 1)));
  }
  return versions;
}

}  // namespace hai
