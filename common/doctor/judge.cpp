#include "common/doctor/judge.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "common/host_port.h"

namespace hai {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr Duration kClockWarning = 1s;
constexpr Duration kClockFailure = 60s;

bool is_below(uint64_t part, uint64_t whole, uint64_t percent) {
  return part < whole / 100 * percent;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool covers(const std::string& pattern, const std::string& name) {
  if (lower(pattern) == lower(name)) return true;
  if (!pattern.starts_with("*.") || is_address(name)) return false;
  const size_t dot = name.find('.');
  return dot != std::string::npos && lower(pattern.substr(1)) == lower(name.substr(dot));
}

}  // namespace

Finding judge_disk(const std::string& folder, const DiskSpace& space) {
  const std::string remedy = "make room there, or move it to a larger disk";
  const std::string found = fmt::format("{}: {} of {} MiB free", folder, space.free_bytes / kMiB,
                                        space.total_bytes / kMiB);
  if (is_below(space.free_bytes, space.total_bytes, 1) || space.free_bytes < 100 * kMiB) {
    return failure(found, remedy);
  }
  const std::string files =
      fmt::format("{}: {} of {} files (inodes) free", folder, space.free_files, space.total_files);
  if (is_below(space.free_files, space.total_files, 1)) return failure(files, remedy);
  if (is_below(space.free_bytes, space.total_bytes, 10) || space.free_bytes < 1024 * kMiB) {
    return warning(found, remedy);
  }
  if (is_below(space.free_files, space.total_files, 10)) return warning(files, remedy);
  return all_well(found);
}

Finding judge_clock(bool is_synchronised) {
  if (is_synchronised) return all_well("kept by a time service");
  return warning("no time service keeps it", "apt-get install chrony, or enable systemd-timesyncd");
}

Finding judge_clock_difference(const std::string& with, Duration difference) {
  const Duration apart = std::chrono::abs(difference);
  const std::string found =
      fmt::format("{:.1f} s {} that of {}", std::chrono::duration<double>(apart).count(),
                  difference.count() < 0 ? "behind" : "ahead of", with);
  const std::string remedy = "let a time service (chrony) keep the clocks of both machines";
  if (apart >= kClockFailure) return failure(found, remedy);
  if (apart >= kClockWarning) return warning(found, remedy);
  return all_well("as that of " + with);
}

Finding judge_certificate(const std::string& file, const CertificateFacts& facts, UnixTime now,
                          const std::vector<std::string>& names, const std::string& remedy) {
  if (facts.ends <= now) {
    return failure(fmt::format("{} has expired on {}", file, format_rfc3339(facts.ends)), remedy);
  }
  if (facts.begins > now) {
    return failure(fmt::format("{} begins on {}", file, format_rfc3339(facts.begins)),
                   "set this machine's clock");
  }
  for (const std::string& name : names) {
    if (std::ranges::any_of(facts.names, [&](const auto& each) { return covers(each, name); })) {
      continue;
    }
    return failure(
        fmt::format("{} is for {}, not for {}", file, fmt::join(facts.names, ", "), name), remedy);
  }
  const std::string until = fmt::format("{} holds until {}", file, format_rfc3339(facts.ends));
  if (facts.ends - now < renewal_notice(facts)) return warning(until, remedy);
  return all_well(until);
}

Finding judge_unit(const std::string& unit, const UnitState& state) {
  const std::string start = "systemctl enable --now " + unit;
  if (state.load != "loaded") {
    return warning(fmt::format("{} is {}", unit, state.load),
                   "install its package, or see to its start with the machine yourself");
  }
  if (state.active == "failed") {
    return failure(unit + " has failed", "journalctl -u " + unit + " says why");
  }
  if (state.active != "active") return failure(fmt::format("{} is {}", unit, state.active), start);
  if (state.enabled != "enabled" && state.enabled != "static") {
    return warning(unit + " does not start with the machine", start);
  }
  return all_well(unit + " runs");
}

}  // namespace hai
