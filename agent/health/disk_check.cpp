#include "agent/health/disk_check.h"

#include <algorithm>
#include <sstream>

#include "agent/health/file_values.h"
#include "agent/health/results.h"
#include "common/ascii.h"

namespace hai {

namespace {

constexpr size_t kDisksMax = 128;

// A partition or something that is no disk. "nvme0n1p2" and "sda1" are partitions, "nvme0n1" and
// "md0" are not.
bool is_whole_disk(const std::string& name) {
  for (const char* other : {"loop", "ram", "sr", "fd", "zram"}) {
    if (name.starts_with(other)) return false;
  }
  if (!is_digit(name.back())) return true;
  if (name.starts_with("sd") || name.starts_with("vd") || name.starts_with("hd")) return false;
  const size_t stem = name.find_last_not_of("0123456789");
  const bool is_numbered = name.starts_with("nvme") || name.starts_with("mmcblk");
  return !(is_numbered && stem != std::string::npos && name[stem] == 'p');
}

}  // namespace

std::map<std::string, DiskSample> parse_diskstats(const std::string& text) {
  std::map<std::string, DiskSample> disks;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && disks.size() < kDisksMax;) {
    std::istringstream words(line);
    std::string major, minor, name;
    if (!(words >> major >> minor >> name)) continue;
    std::vector<int64_t> fields;
    for (int64_t field; words >> field;) fields.push_back(field);
    if (fields.size() < 11) continue;
    DiskSample sample{.finished = fields[0] + fields[4], .in_flight = fields[8]};
    if (fields.size() >= 12) sample.finished += fields[11];  // discards
    if (fields.size() >= 16) sample.finished += fields[15];  // flushes
    disks.emplace(std::move(name), sample);
  }
  return disks;
}

CheckResult judge_disk(const std::string& disk, Duration stuck_for, const HealthLimits& limits) {
  const CheckSubject about{.name = "disk_stuck", .subject = disk, .gpus = {}};
  const std::string summary = fmt::format("finished none of its requests for {} s, limit {} s",
                                          stuck_for / 1s, limits.disk_stuck_seconds);
  if (stuck_for < limits.disk_stuck_seconds * 1s) return make_ok(about, "works");
  return make_fail(about, HealthTier::drain,
                   {.summary = summary, .remedy = "reboot; replace the disk if it comes back"});
}

DiskCheck::DiskCheck(DiskCheckOptions options)
    : Check("disks", {.period = 15s, .deadline = 5s}), options_(std::move(options)) {}

std::vector<CheckResult> DiskCheck::run(const CheckInput& input) {
  const std::map<std::string, DiskSample> samples =
      parse_diskstats(read_text(options_.proc_root + "/diskstats").value_or(""));
  std::vector<CheckResult> results;
  std::map<std::string, Past> now;
  for (const auto& [name, sample] : samples) {
    const bool is_chosen =
        options_.disks.empty()
            ? is_whole_disk(name)
            : std::find(options_.disks.begin(), options_.disks.end(), name) != options_.disks.end();
    if (!is_chosen) continue;
    const auto past = disks_.find(name);
    const bool is_stuck = past != disks_.end() && sample.in_flight > 0 &&
                          past->second.sample.in_flight > 0 &&
                          past->second.sample.finished == sample.finished;
    const MonoTime moved_at = is_stuck ? past->second.moved_at : input.now;
    now[name] = {.sample = sample, .moved_at = moved_at, .is_stuck = is_stuck};
    results.push_back(judge_disk(name, input.now - moved_at, options_.limits));
  }
  disks_ = std::move(now);
  for (const std::string& name : options_.disks) {
    if (samples.contains(name)) continue;
    results.push_back(make_fail({.name = "disk_stuck", .subject = name, .gpus = {}},
                                HealthTier::drain,
                                {.summary = "gone", .remedy = "put the disk back, or replace it"}));
  }
  if (results.empty()) {
    results.push_back(make_unknown(
        {"disk_stuck", "", {}},
        {.summary = "no disks", .remedy = "none; if it should have some: health.disks"}));
  }
  return results;
}

CheckMemory DiskCheck::memory() const {
  CheckMemory memory;
  for (const auto& [name, past] : disks_) {
    if (!past.is_stuck) continue;
    memory.of_boot[name]["stuck_at"] = {past.sample.finished, to_number(past.moved_at)};
  }
  return memory;
}

void DiskCheck::restore(const CheckMemory& memory) {
  for (const auto& [name, fields] : memory.of_boot) {
    const std::vector<int64_t> stuck = numbers_of(memory.of_boot, name, "stuck_at");
    if (stuck.size() != 2 || disks_.size() >= kDisksMax) continue;
    disks_[name] = {.sample = {.finished = stuck[0], .in_flight = 1},
                    .moved_at = to_moment(stuck[1]),
                    .is_stuck = true};
  }
}

}  // namespace hai
