// Faults, the part about hardware: checks that fail and heal, on one node or on all of a leaf.

#include <array>

#include "sim/faults.h"

namespace hai {
namespace {

struct Check {
  const char* name;
  HealthTier tier;
  bool has_gpu;
};
constexpr std::array kChecks = {Check{"gpu_xid", HealthTier::evict, true},
                                Check{"gpu_xid", HealthTier::drain, true},
                                Check{"gpu_xid", HealthTier::validate, true},
                                Check{"gpu_xid", HealthTier::app, true},
                                Check{"gpu_count", HealthTier::evict, false},
                                Check{"gpu_nvlink", HealthTier::drain, true},
                                Check{"ib_link", HealthTier::evict, false},
                                Check{"memory_errors", HealthTier::drain, false},
                                Check{"cpu_count", HealthTier::validate, false}};

CheckResult failing(const Check& check, int gpu) {
  CheckResult result{.name = check.name,
                     .verdict = CheckVerdict::fail,
                     .tier = check.tier,
                     .summary = "simulated"};
  if (check.has_gpu) {
    result.subject = "gpu " + std::to_string(gpu);
    result.gpus = GpuSet{uint64_t{1} << gpu};
  }
  return result;
}

}  // namespace

void Faults::fail_check() {
  const int index = some_node();
  const Check& check = kChecks[rng_.below(kChecks.size())];
  const auto gpu = static_cast<int>(rng_.below(8));
  world_.node(index).hardware().fail(failing(check, gpu));
  if (std::string_view(check.name) == "gpu_xid") return;  // until it is cleared
  loop_.call_after(between(1s, 5min), [this, index, name = std::string(check.name)] {
    world_.node(index).hardware().mend(name);
  });
}

// A leaf switch or a file server: many see the same at about the same time.
void Faults::fail_check_of_leaf() {
  const std::string leaf = world_.node(some_node()).facts().leaf;
  const Check check = rng_.chance(0.5) ? Check{"ib_link", HealthTier::evict, false}
                                       : Check{"mount", HealthTier::drain, false};
  for (int i = 0; i < world_.node_count(); ++i) {
    if (world_.node(i).facts().leaf != leaf) continue;
    loop_.call_after(between(1ms, 20s),
                     [this, i, check] { world_.node(i).hardware().fail(failing(check, 0)); });
    loop_.call_after(between(20s, 5min), [this, i, name = std::string(check.name)] {
      world_.node(i).hardware().mend(name);
    });
  }
}

}  // namespace hai
