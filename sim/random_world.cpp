#include "sim/random_world.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim/sim_node.h"

namespace hai {
namespace {

constexpr std::array<std::string_view, 5> kConditions = {"", "afterany:", "",
                                                         "afternotok:", "after:"};

// One job of so many makes room for nobody.
constexpr int kInteractiveOf = 11;

}  // namespace

Knobs random_knobs(Rng& rng, double edge) {
  auto between = [&](int64_t low, int64_t high) {
    if (edge > 0 && rng.chance(edge)) return rng.chance(0.5) ? low : high;
    return rng.between(low, high);
  };
  Knobs knobs;
  knobs.heartbeat = Duration(between(1, 5) * 1'000'000);
  knobs.agent_lease = Duration(between(15, 30) * 1'000'000);
  knobs.down_after =
      knobs.agent_lease + knobs.heartbeat + 4s + Duration(between(0, 10) * 1'000'000);
  knobs.plan_gap = Duration(between(0, 200) * 1'000);
  knobs.resend_after = Duration(between(500, 5'000) * 1'000);
  knobs.append_batch_max = static_cast<int>(between(1, 50));
  knobs.policy = rng.chance(0.7) ? Policy::feedback : Policy::fifo;
  knobs.min_quantum = Duration(between(0, 300) * 1'000'000);
  knobs.switch_share_permille = static_cast<int>(between(20, 1'000));
  knobs.feedback_base = Duration(between(1, 600) * 1'000'000);
  knobs.promote_after = Duration(between(60, 1'800) * 1'000'000);
  knobs.reserve_after = Duration(between(0, 600) * 1'000'000);
  knobs.checkpoint_patience = Duration(between(0, 120) * 1'000'000);
  knobs.usage_half_life = Duration(between(60, 36'000) * 1'000'000);
  knobs.above_normal_lasts = Duration(between(0, 600) * 1'000'000);
  knobs.defrag_moves_per_hour = static_cast<int>(between(0, 200));
  knobs.fault_patience = Duration(between(0, 20) * 1'000'000);
  knobs.validate_period = Duration(between(20, 120) * 60'000'000);
  knobs.validate_deadline = Duration(between(0, 30) * 60'000'000);
  knobs.validation_timeout = Duration(between(30, 600) * 1'000'000);
  knobs.hook_timeout = Duration(between(30, 600) * 1'000'000);
  knobs.mass_fault_nodes = static_cast<int>(between(2, 5));
  knobs.lemon_score = static_cast<int>(between(0, 40));
  knobs.repair_rounds = static_cast<int>(between(0, 3));
  knobs.max_validations = static_cast<int>(between(0, 5));
  knobs.interactive_nodes = 3;
  knobs.interactive_nodes_per_user = 2;
  knobs.max_requeues = 1'000;  // Faults come far more often than anywhere real.
  return knobs;
}

JobSpec random_job(Rng& rng, int number, int max_nodes) {
  ProgramModel program{.work = Duration(rng.between(5'000'000, 400'000'000)),
                       .period = Duration(rng.between(0, 3) * 20'000'000),
                       .save = Duration(rng.between(100'000, 20'000'000)),
                       .obeys = rng.chance(0.8)};
  if (rng.chance(0.1)) program.fails_after = Duration(rng.between(1'000'000, program.work.count()));
  JobSpec spec;
  spec.name = fmt::format("job-{}", number);
  spec.priority = rng.pick(kPriorities);
  if (rng.chance(0.2)) spec.priority = Priority::automatic;
  spec.workspace = "/sim";
  spec.entrypoint = "program";
  spec.environments = program.to_environment();
  spec.node_count =
      static_cast<int>(rng.between(1, rng.chance(0.3) ? max_nodes : std::min(2, max_nodes)));
  if (rng.chance(0.4)) {
    constexpr std::array kShares = {1, 2, 4};
    spec.gpus_per_node = rng.pick(kShares);
  }
  if (rng.chance(0.1)) spec.max_leaves = 1;
  if (rng.chance(0.1)) spec.cross_zone = CrossZone::never;
  if (rng.chance(0.2)) spec.suspend.signal = "SIGUSR1";
  spec.suspend.grace = Duration(rng.between(0, 30) * 1'000'000);
  spec.restart = {.on_failure = rng.chance(0.3), .max = 2};
  if (number > 1 && rng.chance(0.05))
    spec.depends_on = {fmt::format("{}job-{}",
                                   kConditions[static_cast<size_t>(number) % kConditions.size()],
                                   rng.between(1, number - 1))};
  // Not drawn: seeds of before keep their worlds.
  spec.is_interactive = number % kInteractiveOf == 0;
  return spec;
}

void ask_for_host(Rng& rng, JobSpec& spec, int max_nodes) {
  if (rng.chance(0.25)) spec.gpus_per_node = kNoGpus;
  if (!spec.asks_gpus()) spec.is_interactive = false;
  if (rng.chance(0.4)) {
    spec.cpus_per_node = static_cast<int>(rng.between(1, rng.chance(0.5) ? 8 : kSimCpus));
  }
  if (rng.chance(0.3)) spec.memory_per_node_bytes = rng.between(1, kSimMemoryBytes);
  if (rng.chance(0.2)) {
    spec.node_filter.exclude = fmt::format("node-{}", rng.between(1, std::max(1, max_nodes)));
  }
}

}  // namespace hai
