#include <algorithm>

#include "agent/health/gpu_judge.h"
#include "agent/health/ib_judge.h"

namespace hai {

namespace {

constexpr size_t kSamplesMax = 1'000;
constexpr uint64_t kSlowed = nvml::kReasonHwSlowdown | nvml::kReasonSwThermal |
                             nvml::kReasonHwThermal | nvml::kReasonHwPowerBrake;

int64_t since(const std::optional<int64_t>& before, const std::optional<int64_t>& after) {
  return before && after ? counted_since(*before, *after) : 0;
}

bool is_bad(const NvlinkSample& before, const NvlinkSample& after, double seconds,
            const HealthLimits& limits) {
  if (since(before.recoveries, after.recoveries) > 0) return true;
  if (since(before.replays, after.replays) > 0) return true;
  const auto errors = static_cast<double>(since(before.crc_errors, after.crc_errors));
  return seconds > 0 && errors / seconds >= static_cast<double>(limits.nvlink_crc_per_second);
}

}  // namespace

void GpuHistory::add(MonoTime now, GpuSample sample, const HealthLimits& limits) {
  Past past{.at = now,
            .is_slowed = (sample.clock_reasons.value_or(0) & kSlowed) != 0,
            .has_bad_nvlink = false,
            .is_slow_pcie = sample.utilization_percent.value_or(0) > 0 && sample.pcie_generation &&
                            sample.pcie_generation_max &&
                            *sample.pcie_generation < *sample.pcie_generation_max};
  if (!samples_.empty()) compare(now, last_, sample, limits, past);
  for (const NvlinkSample& link : sample.nvlinks) {
    if (link.is_active) nvlinks_once_active_.insert(link.index);
  }
  samples_.push_back(past);
  const Duration window = limits.gpu_slowdown_minutes * 1min;
  while (samples_.size() > kSamplesMax || now - samples_.front().at > window) samples_.pop_front();
  last_ = std::move(sample);
}

void GpuHistory::compare(MonoTime now, const GpuSample& before, const GpuSample& after,
                         const HealthLimits& limits, Past& past) {
  const double seconds = static_cast<double>((now - samples_.back().at).count()) / 1e6;
  replays_per_minute_ =
      seconds > 0
          ? static_cast<double>(since(before.pcie_replays, after.pcie_replays)) * 60 / seconds
          : 0;
  for (const NvlinkSample& link : after.nvlinks) {
    const auto same = std::find_if(before.nvlinks.begin(), before.nvlinks.end(),
                                   [&](const auto& other) { return other.index == link.index; });
    if (same != before.nvlinks.end() && is_bad(*same, link, seconds, limits))
      past.has_bad_nvlink = true;
  }
}

bool GpuHistory::is_slow_pcie_twice() const {
  return samples_.size() >= 2 && samples_.back().is_slow_pcie &&
         samples_[samples_.size() - 2].is_slow_pcie;
}

std::vector<int> GpuHistory::lost_nvlinks() const {
  std::vector<int> lost;
  if (last_.trouble != nvml::kSuccess) return lost;
  for (const int index : nvlinks_once_active_) {
    const bool is_active = std::any_of(
        last_.nvlinks.begin(), last_.nvlinks.end(),
        [&](const NvlinkSample& link) { return link.index == index && link.is_active; });
    if (!is_active) lost.push_back(index);
  }
  return lost;
}

int64_t GpuHistory::active_nvlinks() const {
  return std::count_if(last_.nvlinks.begin(), last_.nvlinks.end(),
                       [](const NvlinkSample& link) { return link.is_active; });
}

// One that was there once is one that the GPU has, even if the driver lists it no more.
int64_t GpuHistory::nvlinks() const {
  const int64_t known = nvlinks_once_active_.empty() ? 0 : *nvlinks_once_active_.rbegin() + 1;
  return std::max(known, static_cast<int64_t>(last_.nvlinks.size()));
}

void GpuHistory::set_strays(MonoTime now, std::vector<pid_t> pids) {
  strays_ = std::move(pids);
  if (strays_.empty()) {
    strays_since_.reset();
  } else if (!strays_since_) {
    strays_since_ = now;
  }
}

Duration GpuHistory::strays_for(MonoTime now) const {
  return strays_since_ ? now - *strays_since_ : Duration(0);
}

void GpuHistory::remember(const std::string& subject, CheckMemory& memory) const {
  if (!nvlinks_once_active_.empty()) {
    memory.lasting[subject]["nvlinks"] = {nvlinks_once_active_.begin(), nvlinks_once_active_.end()};
  }
  if (strays_since_) memory.of_boot[subject]["strays_since"] = {to_number(*strays_since_)};
  std::vector<int64_t> numbers;
  for (const Past& past : samples_) {
    if (!past.is_slowed && !past.has_bad_nvlink && !past.is_slow_pcie) continue;
    numbers.insert(numbers.end(),
                   {to_number(past.at), past.is_slowed, past.has_bad_nvlink, past.is_slow_pcie});
  }
  if (!numbers.empty()) memory.of_boot[subject]["bad_samples"] = std::move(numbers);
}

void GpuHistory::restore(const std::string& subject, const CheckMemory& memory) {
  for (const int64_t index : numbers_of(memory.lasting, subject, "nvlinks")) {
    const bool is_one = index >= 0 && index < static_cast<int64_t>(nvml::kNvlinksMax);
    if (is_one) nvlinks_once_active_.insert(static_cast<int>(index));
  }
  strays_since_ = moment_of(memory.of_boot, subject, "strays_since");
  const std::vector<int64_t> numbers = numbers_of(memory.of_boot, subject, "bad_samples");
  for (size_t i = 0; i + 3 < numbers.size(); i += 4) {
    samples_.push_back({.at = to_moment(numbers[i]),
                        .is_slowed = numbers[i + 1] != 0,
                        .has_bad_nvlink = numbers[i + 2] != 0,
                        .is_slow_pcie = numbers[i + 3] != 0});
  }
}

int64_t GpuHistory::count(bool Past::*member) const {
  return std::count_if(samples_.begin(), samples_.end(),
                       [&](const Past& past) { return past.*member; });
}

}  // namespace hai
