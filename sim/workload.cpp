#include "sim/workload.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace hai {

void Workload::act() {
  double dice = rng_.unit();
  if (dice < 0.62) return submit();
  if (dice < 0.92) return control();
  change_node();
}

JobSpec Workload::random_spec() {
  ProgramModel program{.work = Duration(rng_.between(5'000'000, 400'000'000)),
                       .period = Duration(rng_.between(0, 3) * 20'000'000),
                       .save = Duration(rng_.between(100'000, 20'000'000)),
                       .obeys = rng_.chance(0.8)};
  if (rng_.chance(0.1))
    program.fails_after = Duration(rng_.between(1'000'000, program.work.count()));
  JobSpec spec;
  spec.name = fmt::format("job-{}", next_);
  spec.priority = rng_.pick(kPriorities);
  if (rng_.chance(0.2)) spec.priority = Priority::automatic;
  spec.workspace = "/sim";
  spec.entrypoint = "program";
  spec.environments = program.to_environment();
  spec.node_count =
      static_cast<int>(rng_.between(1, rng_.chance(0.3) ? max_nodes_ : std::min(2, max_nodes_)));
  if (rng_.chance(0.4)) {
    constexpr std::array kShares = {1, 2, 4};
    spec.gpus_per_node = rng_.pick(kShares);
  }
  spec.suspend.grace = Duration(rng_.between(0, 30) * 1'000'000);
  spec.restart = {.on_failure = rng_.chance(0.3), .max = 2};
  if (next_ > 1 && rng_.chance(0.05))
    spec.depends_on = {fmt::format("job-{}", rng_.between(1, next_ - 1))};
  return spec;
}

void Workload::submit() {
  Controller* leader = world_.leader();
  if (leader == nullptr) return;
  JobSpec spec = random_spec();
  std::string request = fmt::format("request-{}", next_++);
  leader->submit({.trusted_user = "ann"}, SubmitJob{spec, request},
                 [this, name = spec.name](Result<CommandReply> reply) {
                   if (reply.is_ok()) acknowledged_.emplace(reply.value().job.value, name);
                 });
}

std::string Workload::some_job() {
  if (acknowledged_.empty()) return "1";
  auto it = acknowledged_.begin();
  std::advance(it, rng_.below(acknowledged_.size()));
  return std::to_string(it->first);
}

void Workload::control() {
  Controller* leader = world_.leader();
  if (leader == nullptr) return;
  std::string job = some_job();
  auto send = [&](Command command) {
    leader->submit({.trusted_user = "ann"}, std::move(command), [](Result<CommandReply>) {});
  };
  switch (rng_.below(8)) {
    case 0:
      return send(StopJob{job, "no more"});
    case 1:
    case 2:
      return send(SuspendJob{job, "later"});
    case 3:
    case 4:
      return send(ResumeJob{job});
    case 5:
      return send(HoldJob{job, "wait"});
    case 6:
      return send(ReleaseJob{job});
    default:
      return send(SetJobPriority{job, rng_.pick(kPriorities)});
  }
}

void Workload::change_node() {
  Controller* leader = world_.leader();
  if (leader == nullptr) return;
  std::string node = world_.node_name(static_cast<int>(rng_.below(world_.node_count())));
  auto send = [&](Command command) {
    leader->submit({.trusted_user = "ann"}, std::move(command), [](Result<CommandReply>) {});
  };
  switch (rng_.below(4)) {
    case 0:
      return send(CordonNode{node, "look at it"});
    case 1:
      return send(DrainNode{node, "repair"});
    default:
      return send(UndrainNode{node});
  }
}

void Workload::settle() {
  Controller* leader = world_.leader();
  if (leader == nullptr) return;
  auto send = [&](Command command) {
    leader->submit({.trusted_user = "ann"}, std::move(command), [](Result<CommandReply>) {});
  };
  for (const auto& [id, node] : leader->state().nodes()) {
    if (node.scheduling != Scheduling::open) send(UndrainNode{node.facts.name});
  }
  for (const auto& [id, job] : leader->state().jobs()) {
    if (job.is_terminal()) continue;
    if (job.failed_dependency) send(StopJob{std::to_string(id.value), "can never run"});
    if (job.held) send(ReleaseJob{std::to_string(id.value)});
  }
}

}  // namespace hai
