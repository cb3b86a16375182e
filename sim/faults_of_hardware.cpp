// Faults, the part about hardware: checks that fail and heal, on one node or on all of a leaf.

#include "sim/faults.h"

namespace hai {
namespace {

// Those that all nodes of a leaf may see, by index.
constexpr int kLink = 6;
constexpr int kMount = 9;

}  // namespace

void Faults::fail_check() {
  const int index = some_node();
  const auto check = static_cast<int>(rng_.below(kMount));
  const auto gpu = static_cast<int>(rng_.below(8));
  deeds_.now({.kind = DeedKind::check_fails, .target = index, .a = check, .b = gpu});
  if (check_is_latched(check)) return;
  deeds_.after(between(1s, 5min), {.kind = DeedKind::check_mends, .target = index, .a = check});
}

// A leaf switch or a file server: many see the same at about the same time.
void Faults::fail_check_of_leaf() {
  const std::string leaf = world_.node(some_node()).facts().leaf;
  const int check = rng_.chance(0.5) ? kLink : kMount;
  for (int i = 0; i < world_.node_count(); ++i) {
    if (world_.node(i).facts().leaf != leaf) continue;
    deeds_.after(between(1ms, 20s), {.kind = DeedKind::check_fails, .target = i, .a = check});
    deeds_.after(between(20s, 5min), {.kind = DeedKind::check_mends, .target = i, .a = check});
  }
}

}  // namespace hai
