// For people: what holds a gang up may be a hundred jobs that differ in little.

#include <fmt/core.h>

#include <algorithm>

#include "server/plan/blocking.h"

namespace hai {
namespace {

constexpr size_t kShownMax = 3;

bool may_merge(BlockingKind kind) {
  return kind == BlockingKind::job || kind == BlockingKind::node ||
         kind == BlockingKind::reservation || kind == BlockingKind::dependency;
}

}  // namespace

// The first few of a kind one by one, the others as a number.
std::vector<BlockingFact> merge_facts(const std::vector<BlockingFact>& facts) {
  std::vector<BlockingFact> merged;
  for (size_t first = 0; first < facts.size();) {
    size_t end = first + 1;
    while (end < facts.size() && facts[end].kind == facts[first].kind) ++end;
    const size_t shown =
        may_merge(facts[first].kind) && end - first > kShownMax + 1 ? kShownMax : end - first;
    for (size_t i = first; i < first + shown; ++i) merged.push_back(facts[i]);
    if (shown < end - first) {
      const size_t left = end - first - shown;
      BlockingFact rest{facts[first].kind,
                        fmt::format("and {} more {}", left,
                                    facts[first].kind == BlockingKind::node ? "nodes" : "jobs")};
      for (size_t i = first + shown; i < end; ++i) {
        rest.holders.insert(rest.holders.end(), facts[i].holders.begin(), facts[i].holders.end());
      }
      merged.push_back(std::move(rest));
    }
    first = end;
  }
  return merged;
}

}  // namespace hai
