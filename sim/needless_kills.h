#pragma once
// needless kill: a rank is fenced only if its agent, or the answers of its peers, gave cause. Looks
// at the nodes twice a second: whether the node's agent works, and has a live lease or reaches a
// majority of peers whose leases are dead too while no peer has a live one. If that was so for a
// whole round of questions, the rank had to live on (docs/design/0005).

#include <optional>
#include <string>
#include <vector>

#include "common/time.h"

namespace hai {

class World;

class NeedlessKills {
 public:
  static constexpr Duration kPeriod = 500ms;

  explicit NeedlessKills(const World& world) : world_(world) {}
  void sample();
  // A rank of the node was fenced now. Why it need not have been; nullopt if there was cause.
  std::optional<std::string> judge(int node) const;

 private:
  bool must_live_on(int node) const;

  const World& world_;
  std::vector<std::optional<MonoTime>> since_;  // must_live_on, without a break
  std::vector<bool> was_alive_;                 // its lease, at the last sample
};

}  // namespace hai
