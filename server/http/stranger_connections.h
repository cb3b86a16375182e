#pragma once
// The connections that nobody known has used, by the machine they come from (machine_of): which of
// them makes room when there are too many. Not thread-safe.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/host_port.h"

namespace hai {

template <typename Connection>
class StrangerConnections {
 public:
  using Number = uint64_t;  // in the order in which they came

  Number add(const std::string& machine, Connection connection) {
    ByAge& own = machines_[machine];
    unrank(own);
    own.emplace(++last_number_, std::move(connection));
    ranks_.emplace(rank_of(own), &own);
    return last_number_;
  }

  void remove(const std::string& machine, Number number) {
    const auto found = machines_.find(machine);
    ByAge& own = found->second;
    unrank(own);
    own.erase(number);
    if (own.empty()) {
      machines_.erase(found);
    } else {
      ranks_.emplace(rank_of(own), &own);
    }
  }

  bool empty() const { return machines_.empty(); }
  // Which connection must go before one more comes from `address`, whose machine may have so many;
  // null = none. This machine's own loopback may have all.
  const Connection* in_the_way_of(const std::string& address, size_t per_machine) const {
    const auto found = machines_.find(machine_of(address));
    if (found == machines_.end() || is_loopback(address)) return nullptr;
    const bool is_full = found->second.size() >= std::max<size_t>(per_machine, 1);
    return is_full ? &found->second.begin()->second : nullptr;
  }
  // The oldest of the machine that has the most; the oldest of all where several have as many. Of
  // those that are not empty.
  const Connection& oldest_of_the_most() const { return ranks_.rbegin()->second->begin()->second; }

 private:
  using ByAge = std::map<Number, Connection>;
  using Rank = std::pair<size_t, Number>;

  static Rank rank_of(const ByAge& own) { return {own.size(), ~own.begin()->first}; }
  void unrank(const ByAge& own) {
    if (!own.empty()) ranks_.erase(rank_of(own));
  }

  std::unordered_map<std::string, ByAge> machines_;
  std::map<Rank, const ByAge*> ranks_;  // whoever has the most last
  Number last_number_ = 0;
};

}  // namespace hai
