#include "tests/support/builders.h"

#include "common/check.h"
#include "server/plan/carry_out.h"

namespace hai::test {

NodeFacts NodesBuilder::facts(int number) const {
  NodeFacts facts = facts_;
  facts.name = fmt::format("node-{}", number);
  facts.address = fmt::format("10.0.{}.{}", number / 250, number % 250 + 1);
  return facts;
}

JobBuilder::JobBuilder(std::string name) {
  spec_.name = std::move(name);
  spec_.priority = Priority::normal;
  spec_.workspace = "/data";
  spec_.entrypoint = "train.py";
}

Cluster::Cluster(const std::vector<NodesBuilder>& parts) {
  emit(EpochStarted{Epoch{1}});
  add_user("ann", {}, Role::admin);
  for (Priority level : kPriorities) set_quota("public", "*", level, Quota::kUnlimited);
  int number = 0;
  for (const NodesBuilder& part : parts) {
    for (int i = 0; i < part.count(); ++i) {
      ++number;
      emit(NodeRegistered{NodeId{number}, part.facts(number)});
      emit(NodeLivenessChanged{NodeId{number}, Liveness::up, ""});
    }
  }
}

const Job& Cluster::job(JobId id) const {
  const Job* found = state_.find(id);
  CHECK(found != nullptr);
  return *found;
}

const Node& Cluster::node(const std::string& name) const {
  const Node* found = state_.find_node(name);
  CHECK(found != nullptr);
  return *found;
}

void Cluster::emit(EventBody body, const std::string& actor) {
  decide_with([&](Decision& decision) {
    decision.set_actor(actor);
    decision.emit(std::move(body));
  });
}

Result<CommandReply> Cluster::decide(const Command& command, const std::string& user) {
  return decide_with([&](Decision& decision) -> Result<CommandReply> {
    Result<Actor> actor = authenticate(state_, {.trusted_user = user}, decision.now());
    if (!actor.is_ok()) return actor.status();
    return std::visit([&](const auto& body) { return hai::decide(decision, body, actor.value()); },
                      command);
  });
}

Cluster& Cluster::add_user(const std::string& name, std::vector<std::string> groups, Role role) {
  emit(UserSet{{.name = name, .role = role, .groups = std::move(groups)}});
  return *this;
}

Cluster& Cluster::set_quota(const std::string& owner, const std::string& group, Priority level,
                            int64_t nodes) {
  emit(QuotaSet{{owner, group, level, nodes}});
  return *this;
}

Cluster& Cluster::clear_quotas() {
  const std::map<ClusterState::QuotaKey, Quota> quotas = state_.quotas();
  for (const auto& [key, quota] : quotas) emit(QuotaRemoved{quota});
  return *this;
}

Cluster& Cluster::set_liveness(const std::string& name, Liveness liveness) {
  emit(NodeLivenessChanged{node_id(name), liveness, "test"});
  return *this;
}

Cluster& Cluster::set_scheduling(const std::string& name, Scheduling scheduling) {
  emit(NodeSchedulingChanged{node_id(name), scheduling, "test", "ann"});
  return *this;
}

JobId Cluster::submit(const JobBuilder& builder) {
  std::vector<Dependency> dependencies;
  for (const std::string& text : builder.spec().depends_on) {
    const DependencyWord word = parse_dependency(text).value();
    const Job* job = state_.find_unfinished(builder.user(), word.job);
    CHECK(job != nullptr);
    dependencies.push_back({job->id, word.condition});
  }
  if (state_.find_user(builder.user()) == nullptr) add_user(builder.user());
  JobId id{state_.last_job().value + 1};
  emit(JobSubmitted{id, builder.user(), builder.request_id(),
                    std::make_shared<const JobSpec>(builder.spec()), dependencies});
  return id;
}

Placement Cluster::on(const std::vector<std::string>& names, GpuSet gpus) const {
  Placement placement;
  for (const std::string& name : names) {
    placement.push_back({node_id(name), gpus.is_empty() ? node(name).all_gpus() : gpus});
  }
  return placement;
}

void Cluster::place(JobId id, Placement placement) {
  const Job& placed = job(id);
  Priority level = placed.priority == Priority::automatic ? Priority::low : placed.priority;
  bool exclusive = placed.spec->asks_gpus() &&
                   placement.front().gpus == state_.find(placement.front().node)->all_gpus();
  emit(AttemptPlaced{id, placed.next_attempt(), std::move(placement), level, 10'000, exclusive});
}

JobId Cluster::place(const JobBuilder& builder, const std::vector<std::string>& names,
                     GpuSet gpus) {
  JobId id = submit(builder);
  Placement placement = on(names, gpus);
  if (!builder.spec().asks_gpus()) {
    for (RankPlacement& place : placement) place.gpus = {};
  }
  place(id, std::move(placement));
  return id;
}

JobId Cluster::run(const JobBuilder& builder, const std::vector<std::string>& names, GpuSet gpus) {
  JobId id = place(builder, names, gpus);
  confirm(id);
  return id;
}

void Cluster::confirm(JobId id) {
  int number = attempt(id).number;
  emit(AttemptStarting{id, number});
  for (int rank = 0; rank < static_cast<int>(attempt(id).ranks.size()); ++rank) {
    emit(RankRunning{id, number, rank});
  }
  emit(AttemptRunning{id, number});
}

void Cluster::checkpoint(JobId id, Duration ago, double save_seconds) {
  emit(CheckpointReported{
      id,
      attempt(id).number,
      {.step = 1, .path = "ckpt-1", .save_seconds = save_seconds, .at = now - ago}});
}

void Cluster::leave(JobId id, AttemptState outcome) {
  int number = attempt(id).number;
  if (!attempt(id).end) emit(AttemptEnding{id, number, {outcome, 0, "test", false}});
  for (int rank = 0; rank < static_cast<int>(attempt(id).ranks.size()); ++rank) {
    if (is_gone(attempt(id).ranks[rank].state)) continue;
    emit(RankEnded{id, number, rank, RankState::exited, ExitCause::go_suspend, 0, ""});
  }
  emit(AttemptEnded{id, number, outcome, "test", 0, {}});
}

void Cluster::finish(JobId id, JobState state) {
  if (job(id).has_live_attempt()) leave(id, AttemptState::succeeded);
  emit(JobFinished{id, state, 0, "test"});
}

Plan Cluster::pass() {
  Plan made = plan();
  decide_with([&](Decision& decision) { carry_out(decision, made); });
  return made;
}

std::string to_text(const ClusterState& state, const Placement& placement) {
  std::string text;
  for (const RankPlacement& place : placement) {
    const Node& node = *state.find(place.node);
    if (!text.empty()) text += ',';
    text += node.facts.name;
    if (place.gpus != node.all_gpus()) text += "[" + to_string(place.gpus) + "]";
  }
  return text;
}

}  // namespace hai::test
