#include "server/model/node_census.h"

#include "common/check.h"

namespace hai {

void NodeCensus::add(const NodeFacts& facts) { ++groups_[facts.group][{facts.zone, facts.gpus}]; }

void NodeCensus::remove(const NodeFacts& facts) {
  auto group = groups_.find(facts.group);
  CHECK(group != groups_.end());
  auto size = group->second.find({facts.zone, facts.gpus});
  CHECK(size != group->second.end());
  if (--size->second == 0) group->second.erase(size);
  if (group->second.empty()) groups_.erase(group);
}

const NodeCensus::Sizes& NodeCensus::sizes_of(const std::string& group) const {
  static const Sizes kNone;
  auto found = groups_.find(group);
  return found == groups_.end() ? kNone : found->second;
}

}  // namespace hai
