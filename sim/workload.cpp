#include "sim/workload.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "server/model/find_job.h"
#include "sim/latency.h"
#include "sim/random_world.h"

namespace hai {
namespace {

constexpr std::array kUsers = {"ann", "bob", "eve"};  // ann is the admin
constexpr std::array<std::string_view, kActKinds> kActNames = {
    "ask",     "submit",   "users",  "quota", "stop",    "suspend", "resume", "hold",
    "release", "priority", "cordon", "drain", "undrain", "remove",  "knob"};

// What an administrator turns while the cluster runs; no value = as the config has it.
struct Turn {
  const char* knob;
  const char* value;
};
constexpr std::array kTurns = {
    Turn{"policy", "fifo"},
    Turn{"policy", "feedback"},
    Turn{"policy", ""},
    Turn{"min_quantum", "0s"},
    Turn{"min_quantum", "5m"},
    Turn{"min_quantum", ""},
    Turn{"reserve_after", "0s"},
    Turn{"reserve_after", "10m"},
    Turn{"plan_gap", "200ms"},
    Turn{"plan_gap", ""},
    Turn{"promote_after", "1m"},
    Turn{"promote_after", ""},
    Turn{"max_unfinished_jobs_per_user", "3"},
    Turn{"max_unfinished_jobs_per_user", ""},
    Turn{"max_requeues", "3"},
    Turn{"max_requeues", ""},
    Turn{"mass_loss", "20%"},
    Turn{"mass_loss", ""},
    Turn{"feedback_base", "10s"},
    Turn{"defrag_moves_per_hour", "0"},
    Turn{"defrag_moves_per_hour", ""},
    Turn{"down_after", "10s"},  // refused
};

}  // namespace

std::string_view to_string(ActKind kind) { return kActNames[static_cast<size_t>(kind)]; }

void Workload::act() {
  ask_again();
  double dice = has_users_ ? rng_.unit() : 0.9;
  if (dice < 0.6) return submit();
  if (dice < 0.88) return control();
  if (dice < 0.93) return change_quota();
  if (dice < 0.95) return turn_knob();
  change_node();
}

void Workload::play(const Act& act) {
  ask_again();
  perform(act);
}

void Workload::perform(const Act& act) {
  if (on_act) on_act(act);
  if (act.kind == ActKind::submit) {
    return send({act.user, fmt::format("request-{}", act.job), *act.spec});
  }
  Controller* leader = world_.leader();
  if (leader == nullptr) return;
  auto send = [&](Command command) {
    leader->submit({.trusted_user = "ann"}, std::move(command), [](Result<CommandReply>) {});
  };
  const std::string job = named(leader->state(), act.job);
  const std::string& node = world_.node_name(act.node % world_.node_count());
  switch (act.kind) {
    case ActKind::ask:
    case ActKind::submit:
      return;
    case ActKind::users:
      for (size_t i = 1; i < kUsers.size(); ++i) send(SetUser{{.name = kUsers[i]}});
      return;
    case ActKind::quota:
      return send(SetQuota{{act.user, "training", act.level, act.nodes}});
    case ActKind::stop:
      return send(StopJob{job, "no more"});
    case ActKind::suspend:
      return send(SuspendJob{job, "later"});
    case ActKind::resume:
      return send(ResumeJob{job});
    case ActKind::hold:
      return send(HoldJob{job, "wait"});
    case ActKind::release:
      return send(ReleaseJob{job});
    case ActKind::priority: {  // or what else may change of a job, and the same job again
      const Job* known = find_job(leader->state(), "ann", job);
      if (known != nullptr && known->is_array()) {
        send(EditJob{.job = job, .array_limit = act.job % 3});
      }
      if (act.job % 4 == 1) {
        return send(EditJob{.job = job, .timeout = 10min, .node_count = 1, .priority = act.level});
      }
      if (act.job % 4 == 2 && known != nullptr) {
        return send(RerunJob{.old = std::make_shared<const Job>(*known)});
      }
      return send(SetJobPriority{job, act.level});
    }
    case ActKind::cordon:
      return send(CordonNode{node, "look at it"});
    case ActKind::drain:
      return send(DrainNode{node, "repair"});
    case ActKind::undrain:
      // At times it stands at another leaf then, or again where its agent says.
      if (leader->state().last_seq() % 3 == 0) {
        send(SetNode{.node = node, .settings = {.leaf = "leaf-1", .labels = {{"moved"}}}});
      } else if (leader->state().last_seq() % 3 == 1) {
        send(SetNode{.node = node, .reset = {"leaf", "labels"}});
      }
      return send(UndrainNode{node});
    case ActKind::remove:
      return send(RemoveNode{node, "gone"});
    case ActKind::knob: {
      const Turn& turn = kTurns[static_cast<size_t>(act.nodes) % kTurns.size()];
      if (*turn.value == 0) return send(UnsetKnob{turn.knob, "enough", ""});
      return send(SetKnob{turn.knob, turn.value, "to see"});
    }
  }
}

// Of an array mostly one of its tasks, perhaps one that is still to come. Not drawn: worlds keep
// what is.
std::string Workload::named(const ClusterState& state, int job) const {
  std::string id = id_of(job);
  const auto array = state.unfinished_arrays().find(JobId{std::stoll(id)});
  if (array == state.unfinished_arrays().end() || state.last_seq() % 3 == 0) return id;
  const int position = static_cast<int>(state.last_seq() % array->second.count());
  return fmt::format("{}_{}", id, array->second.at(position));
}

void Workload::submit() {
  JobSpec spec = random_job(rng_, next_, max_nodes_);
  if (world_.asks_for_host()) {
    ask_for_host(rng_, spec, max_nodes_);
    release_early(spec);
  }
  if (rng_.chance(0.06)) {
    spec.array = fmt::format("0-{}{}", rng_.between(0, 3), rng_.chance(0.5) ? "%1" : "");
    spec.is_interactive = false;
  }
  std::string user = rng_.pick(kUsers);
  if (!spec.array.empty()) {
    if (world_.asks_for_host()) pair_with_last_array(spec, user);
    last_array_ = {spec.name, user, spec.array};
  }
  perform({.kind = ActKind::submit,
           .job = next_++,
           .user = user,
           .spec = std::make_shared<const JobSpec>(std::move(spec))});
}

// Every other gang, with ranks that end one after the other. Not drawn: worlds keep what is.
void Workload::release_early(JobSpec& spec) const {
  spec.releases_early = next_ % 2 == 0;
  if (spec.releases_early) spec.environments["SIM_UNEVEN"] = "1";
}

// Each task of it after the same task of the array before. Not drawn: worlds keep what is.
void Workload::pair_with_last_array(JobSpec& spec, std::string& user) const {
  if (last_array_.name.empty()) return;
  spec.array = last_array_.range;
  spec.depends_on = {
      fmt::format("{}:{}", to_string(DependencyCondition::aftercorr), last_array_.name)};
  user = last_array_.user;
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
  if (leader == nullptr) return perform({});
  has_users_ = leader->state().find_user(kUsers.back()) != nullptr;
  if (!has_users_) return perform({.kind = ActKind::users});
  int64_t nodes = rng_.chance(0.2) ? Quota::kUnlimited : rng_.between(0, max_nodes_);
  const char* user = rng_.pick(kUsers);
  perform({.kind = ActKind::quota, .user = user, .level = rng_.pick(kPriorities), .nodes = nodes});
}

std::string Workload::id_of(int job) const {
  if (job == 0) return "1";
  const std::string name = fmt::format("job-{}", job);
  auto it =
      std::ranges::find_if(acknowledged_, [&](const auto& entry) { return entry.second == name; });
  return it == acknowledged_.end() ? "0" : std::to_string(it->first);
}

int Workload::some_job() {
  if (acknowledged_.empty()) return 0;
  auto it = acknowledged_.begin();
  std::advance(it, rng_.below(acknowledged_.size()));
  return std::stoi(it->second.substr(std::string_view("job-").size()));
}

void Workload::control() {
  if (world_.leader() == nullptr) return perform({});
  constexpr std::array kControls = {ActKind::stop,    ActKind::suspend, ActKind::suspend,
                                    ActKind::resume,  ActKind::resume,  ActKind::hold,
                                    ActKind::release, ActKind::priority};
  Act act{.job = some_job()};
  act.kind = rng_.pick(kControls);
  if (act.kind == ActKind::priority) act.level = rng_.pick(kPriorities);
  perform(act);
}

void Workload::turn_knob() {
  if (world_.leader() == nullptr) return perform({});
  perform({.kind = ActKind::knob, .nodes = static_cast<int64_t>(rng_.below(kTurns.size()))});
}

// Only such a node can be removed; `otherwise` if there is none.
int Workload::one_that_is_down(int otherwise) const {
  for (const auto& [id, node] : world_.leader()->state().nodes()) {
    if (node.liveness == Liveness::down && !node.removed_at)
      return world_.index_of(node.facts.name);
  }
  return otherwise;
}

void Workload::change_node() {
  if (world_.leader() == nullptr) return perform({});
  constexpr std::array kChanges = {ActKind::cordon, ActKind::drain, ActKind::undrain,
                                   ActKind::undrain, ActKind::remove};
  auto node = static_cast<int>(rng_.below(world_.node_count()));
  const ActKind kind = rng_.pick(kChanges);
  if (kind == ActKind::remove) node = one_that_is_down(node);
  perform({.kind = kind, .node = node});
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
  // An impostor that has a node's name is off now, as an operator sees who reads the incident that
  // its own agent is refused. He vouches for the name, and so looks at its own machine too.
  for (const auto& [id, node] : leader->state().nodes()) {
    if (node.removed_at) continue;
    const int index = world_.index_of(node.facts.name);
    const bool is_impostors = node.facts.instance != world_.node(index).facts().instance;
    const bool is_quiet = world_.node(index).live_processes() == 0;
    if (is_impostors && is_quiet && !world_.impostor_runs(index)) {
      send(FenceNode{node.facts.name, "that machine is off"});
    }
  }
  for (const auto& [id, job] : leader->state().jobs()) {
    if (job.is_terminal()) continue;
    if (job.failed_dependency) send(StopJob{std::to_string(id.value), "can never run"});
    if (job.held) send(ReleaseJob{std::to_string(id.value)});
  }
}

}  // namespace hai
