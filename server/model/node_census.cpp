#include "server/model/node_census.h"

#include <algorithm>
#include <limits>

#include "common/check.h"

namespace hai {
namespace {

template <typename Amount>
Amount known_or_most(Amount amount) {
  return amount == 0 ? std::numeric_limits<Amount>::max() : amount;
}

template <typename Key>
void remove_one(std::map<Key, int>& counts, const Key& key) {
  auto found = counts.find(key);
  CHECK(found != counts.end());
  if (--found->second == 0) counts.erase(found);
}

}  // namespace

void NodeCensus::add(const NodeFacts& facts) {
  ++groups_[facts.group][{facts.zone, facts.gpus}];
  Amounts& amounts = amounts_[{facts.group, facts.zone}];
  ++amounts.cpus[known_or_most(facts.cpus)];
  ++amounts.memory_bytes[known_or_most(facts.memory_bytes)];
}

void NodeCensus::remove(const NodeFacts& facts) {
  auto group = groups_.find(facts.group);
  CHECK(group != groups_.end());
  remove_one(group->second, {facts.zone, facts.gpus});
  if (group->second.empty()) groups_.erase(group);
  auto amounts = amounts_.find({facts.group, facts.zone});
  CHECK(amounts != amounts_.end());
  remove_one(amounts->second.cpus, known_or_most(facts.cpus));
  remove_one(amounts->second.memory_bytes, known_or_most(facts.memory_bytes));
  if (amounts->second.cpus.empty()) amounts_.erase(amounts);
}

const NodeCensus::Sizes& NodeCensus::sizes_of(const std::string& group) const {
  static const Sizes kNone;
  auto found = groups_.find(group);
  return found == groups_.end() ? kNone : found->second;
}

NodeCensus::Largest NodeCensus::largest_of(const std::string& group,
                                           const std::string& zone) const {
  Largest largest;
  for (auto entry = amounts_.lower_bound({group, zone}); entry != amounts_.end(); ++entry) {
    const auto& [place, amounts] = *entry;
    if (place.first != group || (!zone.empty() && place.second != zone)) break;
    largest.cpus = std::max(largest.cpus, amounts.cpus.rbegin()->first);
    largest.memory_bytes = std::max(largest.memory_bytes, amounts.memory_bytes.rbegin()->first);
  }
  return largest;
}

int NodeCensus::nodes_with(const std::string& group, const std::string& zone, int cpus,
                           int64_t memory_bytes, int enough) const {
  const auto count_from = [enough](const auto& counts, auto amount) {
    int count = 0;
    for (auto at = counts.rbegin(); at != counts.rend() && at->first >= amount; ++at) {
      count += at->second;
      if (count >= enough) break;
    }
    return count;
  };
  int with_cpus = 0;
  int with_memory = 0;
  for (auto entry = amounts_.lower_bound({group, zone}); entry != amounts_.end(); ++entry) {
    const auto& [place, amounts] = *entry;
    if (place.first != group || (!zone.empty() && place.second != zone)) break;
    with_cpus += count_from(amounts.cpus, cpus);
    with_memory += count_from(amounts.memory_bytes, memory_bytes);
  }
  return std::min(with_cpus, with_memory);
}

}  // namespace hai
