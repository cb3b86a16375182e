#pragma once
// How often somebody may show a proof of himself that is none, by his address: signing in and
// joining are for anyone, and an answer to each guess costs a look-up and more. Any thread.

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "common/host_port.h"
#include "common/status.h"

namespace hai {

class FailureLimit {
 public:
  static constexpr int kFailuresMax = 20;  // a minute
  static constexpr size_t kAddressesMax = 10'000;
  using Clock = std::chrono::steady_clock;

  // resource_exhausted once the address has failed too often in this minute.
  Status may_try(const std::string& address, Clock::time_point now = Clock::now()) {
    const std::lock_guard lock(mutex_);
    const auto found = failures_.find(machine_of(address));
    if (found == failures_.end() || now - found->second.since >= kMinute) return ok();
    if (found->second.count < kFailuresMax) return ok();
    return resource_exhausted("{} attempts from {} failed within a minute: wait for one",
                              found->second.count, address);
  }

  void note(const std::string& address, Clock::time_point now = Clock::now()) {
    const std::lock_guard lock(mutex_);
    if (failures_.size() >= kAddressesMax) {
      std::erase_if(failures_,
                    [now](const auto& each) { return now - each.second.since >= kMinute; });
      if (failures_.size() >= kAddressesMax) failures_.clear();
    }
    Failures& of = failures_[machine_of(address)];
    if (now - of.since >= kMinute) of = {.since = now};
    ++of.count;
  }

 private:
  static constexpr std::chrono::minutes kMinute{1};
  struct Failures {
    Clock::time_point since{};
    int count = 0;
  };

  std::mutex mutex_;
  std::map<std::string, Failures> failures_;  // by machine_of()
};

}  // namespace hai
