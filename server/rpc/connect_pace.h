#pragma once
// How often an agent may connect: each time is written down, twice, and one that came and went
// without an end would fill the store. So many times at once, and then once in so long (the
// "generic cell rate algorithm" of ITU-T I.371). One thread at a time.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace hai {

class ConnectPace {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kAtOnce = 60;
  static constexpr std::chrono::seconds kPerConnection{2};
  static constexpr size_t kNodesMax = 20'000;

  // Whether the node may connect now; it is counted if so.
  bool may_connect(const std::string& node, Clock::time_point now = Clock::now()) {
    if (paid_until_.size() >= kNodesMax) {
      std::erase_if(paid_until_, [now](const auto& each) { return each.second <= now; });
    }
    Clock::time_point& paid_until = paid_until_[node];
    const Clock::time_point next = std::max(paid_until, now) + kPerConnection;
    if (next - now > kAtOnce * kPerConnection) return false;
    paid_until = next;
    return true;
  }

 private:
  std::map<std::string, Clock::time_point> paid_until_;
};

}  // namespace hai
