#include "agent/hang/rank_activity.h"

#include <fmt/core.h>
#include <unistd.h>

#include <sstream>

#include "agent/health/file_values.h"
#include "agent/health/ib_port.h"
#include "common/whole_number.h"

namespace hai {

namespace {

constexpr int kUserTimeField = 14;  // see proc(5); then system time, and both of the children

// "usage_usec 123\nuser_usec …" of v2, or nanoseconds in a file of their own of v1.
std::optional<Duration> group_cpu_time(const std::string& directory) {
  std::istringstream lines(read_text(directory + "/cpu.stat").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("usage_usec ")) continue;
    const auto micros = whole_number(trimmed(std::string_view(line).substr(11)));
    if (micros) return Duration(*micros);
  }
  const auto nanos = read_integer(directory + "/cpuacct.usage");
  if (nanos) return Duration(*nanos / 1000);
  return std::nullopt;
}

std::optional<int64_t> process_ticks(const std::string& proc_root, pid_t pid) {
  const auto stat = read_text(fmt::format("{}/{}/stat", proc_root, pid));
  // The name may hold spaces and brackets: look from its last bracket.
  const size_t bracket = stat ? stat->rfind(')') : std::string::npos;
  if (bracket == std::string::npos) return std::nullopt;
  std::istringstream fields(stat->substr(bracket + 1));
  std::string skipped;
  for (int field = 3; field < kUserTimeField; ++field) fields >> skipped;
  int64_t sum = 0;
  for (int i = 0; i < 4; ++i) {
    int64_t ticks = 0;
    fields >> ticks;
    sum += ticks;
  }
  if (fields.fail()) return std::nullopt;
  return sum;
}

}  // namespace

std::optional<Duration> rank_cpu_time(const std::vector<std::string>& cgroups,
                                      const std::vector<pid_t>& pids,
                                      const std::string& proc_root) {
  for (const std::string& directory : cgroups) {
    if (const auto time = group_cpu_time(directory)) return time;
  }
  std::optional<int64_t> sum;
  for (const pid_t pid : pids) {
    if (const auto ticks = process_ticks(proc_root, pid)) sum = sum.value_or(0) + *ticks;
  }
  if (!sum) return std::nullopt;
  return Duration(*sum * 1'000'000 / ::sysconf(_SC_CLK_TCK));
}

std::optional<int64_t> received_bytes(const std::string& sys_root,
                                      const std::vector<std::string>& excluded_devices) {
  std::optional<int64_t> sum;
  for (const IbPort& port : read_ib_ports(sys_root, excluded_devices)) {
    if (port.received_words) sum = sum.value_or(0) + *port.received_words * kBytesPerWord;
  }
  return sum;
}

}  // namespace hai
