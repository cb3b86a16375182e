// Faults, the part about the network.

#include "sim/faults.h"

namespace hai {

using Cut = SimNetwork::Cut;

void Faults::cut_for(Duration time, int node, Cut direction, int island) {
  deeds_.now({.kind = DeedKind::cut,
              .target = node,
              .time = time,
              .a = static_cast<int64_t>(direction),
              .b = island});
}

// From the servers, in one direction or both; its peers it reaches or not.
void Faults::cut_node() {
  const Cut direction = rng_.chance(0.6)   ? Cut::both
                        : rng_.chance(0.5) ? Cut::to_server
                                           : Cut::to_agent;
  const int island = rng_.chance(0.5) ? 0 : world_.network().new_island();
  cut_for(between(1s, 90s), some_node(), direction, island);
}

// Its switch fails: whom one leaf connects reach each other at most.
void Faults::cut_leaf() {
  const NodeFacts& facts = world_.node(some_node()).facts();
  const Duration time = rng_.chance(0.5) ? between(5s, 1min) : between(1min, 5min);
  const int island = world_.network().new_island();
  const bool parts_all = rng_.chance(0.3);
  for (int i = 0; i < world_.node_count(); ++i) {
    const NodeFacts& other = world_.node(i).facts();
    if (other.zone != facts.zone || other.leaf != facts.leaf) continue;
    cut_for(time, i, Cut::both, parts_all ? world_.network().new_island() : island);
  }
}

// Two halves, of which one reaches the servers at most.
void Faults::split() {
  const Duration time = between(5s, 3min);
  const int island = world_.network().new_island();
  const bool nobody_reaches_servers = rng_.chance(0.3);
  for (int i = 0; i < world_.node_count(); ++i) {
    if (rng_.chance(0.5)) {
      cut_for(time, i, Cut::both, island);
    } else if (nobody_reaches_servers) {
      cut_for(time, i, Cut::both, 0);
    }
  }
}

// They reach the servers and nobody else.
void Faults::part_peers() {
  const Duration time = between(5s, 3min);
  const double share = rng_.chance(0.5) ? 1.0 : 0.3;
  for (int i = 0; i < world_.node_count(); ++i) {
    if (rng_.chance(share)) cut_for(time, i, Cut::none, world_.network().new_island());
  }
}

}  // namespace hai
