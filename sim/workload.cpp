#include "sim/workload.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim/latency.h"

namespace hai {
namespace {

constexpr std::array kUsers = {"ann", "bob", "eve"};  // ann is the admin

}  // namespace

void Workload::act() {
  ask_again();
  double dice = has_users_ ? rng_.unit() : 0.9;
  if (dice < 0.6) return submit();
  if (dice < 0.88) return control();
  if (dice < 0.94) return change_quota();
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
  if (rng_.chance(0.1)) spec.max_leaves = 1;
  if (rng_.chance(0.1)) spec.cross_zone = CrossZone::never;
  if (rng_.chance(0.2)) spec.suspend.signal = "SIGUSR1";
  spec.suspend.grace = Duration(rng_.between(0, 30) * 1'000'000);
  spec.restart = {.on_failure = rng_.chance(0.3), .max = 2};
  if (next_ > 1 && rng_.chance(0.05))
    spec.depends_on = {fmt::format("job-{}", rng_.between(1, next_ - 1))};
  return spec;
}

void Workload::submit() {
  JobSpec spec = random_spec();
  std::string id = fmt::format("request-{}", next_++);
  send({std::string(rng_.pick(kUsers)), id, std::move(spec)});
}

void Workload::send(Request request) {
  unanswered_[request.id] = request;
  Controller* leader = world_.leader();
  if (leader == nullptr) return;
  leader->submit({.trusted_user = request.user}, SubmitJob{request.spec, request.id},
                 [this, request, wait = InputWait(*leader)](Result<CommandReply> reply) {
                   if (reply.status().code() == Code::unavailable) return;
                   if (auto wrong = wait.answered()) world_.checkers().fail("latency: " + *wrong);
                   unanswered_.erase(request.id);
                   if (reply.is_ok())
                     acknowledged_.emplace(reply.value().job.value, request.spec.name);
                 });
}

// Whoever got no answer does not know whether his job was taken.
void Workload::ask_again() {
  std::map<std::string, Request> unanswered = unanswered_;
  for (auto& [id, request] : unanswered) send(request);
}

void Workload::change_quota() {
  Controller* leader = world_.leader();
  if (leader == nullptr) return;
  auto send = [&](Command command) {
    leader->submit({.trusted_user = "ann"}, std::move(command), [](Result<CommandReply>) {});
  };
  has_users_ = leader->state().find_user(kUsers.back()) != nullptr;
  if (!has_users_) {
    for (size_t i = 1; i < kUsers.size(); ++i) send(SetUser{{.name = kUsers[i]}});
    return;
  }
  int64_t nodes = rng_.chance(0.2) ? Quota::kUnlimited : rng_.between(0, max_nodes_);
  send(SetQuota{{rng_.pick(kUsers), "training", rng_.pick(kPriorities), nodes}});
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
  ask_again();
  for (const char* user : kUsers) {
    for (Priority level : kPriorities) send(SetQuota{{user, "training", level, Quota::kUnlimited}});
  }
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
