#include "tests/bench/plan_world.h"

#include <fmt/core.h>

#include <algorithm>

#include "server/control/attempt/attempt_flow.h"
#include "server/plan/carry_out.h"

namespace hai::bench {
namespace {

constexpr int kGpus = 8;
constexpr int kNodesPerLeaf = 20;
constexpr Duration kQueueAge = 8h;

// Weighted by how often they are named.
constexpr std::array kLevels = {Priority::normal,       Priority::normal, Priority::normal,
                                Priority::normal,       Priority::normal, Priority::below_normal,
                                Priority::low,          Priority::low,    Priority::high,
                                Priority::above_normal, Priority::low,    Priority::automatic};
constexpr std::array kGangs = {1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 4, 4, 8, 8, 16, 32, 64};
constexpr std::array kRunningGangs = {1, 1, 1, 1, 1, 1, 1, 1, 1,  1, 1,
                                      1, 2, 2, 2, 2, 4, 4, 8, 16, 32};
constexpr std::array kShares = {1, 2, 4};

int people_of(int nodes) { return std::clamp(nodes / 5, 25, 1'000); }

}  // namespace

PlanWorld::PlanWorld(WorldSize size) : size_(size) {
  emit_at(now_ - 24h, EpochStarted{Epoch{1}});
  for (Priority level : kPriorities) emit(QuotaSet{{"public", "*", level, Quota::kUnlimited}});
  add_nodes();
  add_people();
  const int suspended = size.queued / 20;
  add_suspended(suspended);
  fill();
  add_queued(size.queued - suspended);
  (void)state_.take_touched();
}

void PlanWorld::emit_at(UnixTime time, EventBody body) {
  Decision(state_, knobs_, time).emit(std::move(body));
}

void PlanWorld::add_nodes() {
  for (int i = 1; i <= size_.nodes; ++i) {
    NodeFacts facts{.group = "training", .gpus = kGpus, .cpus = 64};
    facts.name = fmt::format("node-{}", i);
    facts.zone = i <= size_.nodes / 2 ? "A" : "B";
    facts.leaf = fmt::format("leaf-{}", (i - 1) / kNodesPerLeaf);
    emit(NodeRegistered{NodeId{i}, facts});
    emit(NodeLivenessChanged{NodeId{i}, Liveness::up, ""});
  }
}

std::shared_ptr<const JobSpec> PlanWorld::random_spec() {
  JobSpec spec{.name = "job", .priority = rng_.pick(kLevels)};
  spec.cross_zone = CrossZone::never;
  if (rng_.chance(0.2)) {
    spec.gpus_per_node = rng_.pick(kShares);
  } else {
    do {
      spec.node_count = rng_.pick(kGangs);
    } while (spec.node_count > std::max(1, size_.nodes / 8));
  }
  return std::make_shared<const JobSpec>(std::move(spec));
}

void PlanWorld::add_people() {
  for (int i = 0; i < people_of(size_.nodes); ++i) {
    Person person{.name = fmt::format("user-{}", i)};
    for (auto& habit : person.habits) habit = random_spec();
    emit(UserSet{{.name = person.name}});
    people_.push_back(std::move(person));
  }
}

JobId PlanWorld::submit(const std::string& user, std::shared_ptr<const JobSpec> spec, UnixTime at) {
  const JobId id{state_.last_job().value + 1};
  emit_at(at, JobSubmitted{id, user, "", std::move(spec), {}});
  return id;
}

JobId PlanWorld::submit() {
  const Person& person = rng_.pick(people_);
  return submit(person.name, rng_.pick(person.habits), now_);
}

JobId PlanWorld::submit(Priority level, int node_count) {
  JobSpec spec{.name = "job", .priority = level, .node_count = node_count};
  spec.cross_zone = CrossZone::never;
  return submit(rng_.pick(people_).name, std::make_shared<const JobSpec>(std::move(spec)), now_);
}

// They have run somewhere, for a time between an hour and weeks of one GPU.
void PlanWorld::add_suspended(int count) {
  for (int i = 0; i < count; ++i) {
    const Person& person = rng_.pick(people_);
    const UnixTime began = now_ - kQueueAge - 1h;
    const UnixTime left = now_ - Duration(rng_.between(0, kQueueAge.count()));
    const JobId id = submit(person.name, rng_.pick(person.habits), began);
    const Placement place{{NodeId{1}, GpuSet::first(kGpus)}};
    emit_at(began, AttemptPlaced{id, 1, place, Priority::normal, 10'000});
    emit_at(began, AttemptStarting{id, 1});
    emit_at(began, RankRunning{id, 1, 0});
    emit_at(began, AttemptRunning{id, 1});
    emit_at(left, RankEnded{id, 1, 0, RankState::exited, ExitCause::go_suspend, 0, ""});
    const int64_t had = int64_t{3'600} << rng_.below(11);
    emit_at(left, AttemptEnded{id, 1, AttemptState::suspended, "bench", 0, {}, had, had});
  }
}

void PlanWorld::confirm(Decision& decision, JobId id) {
  const Attempt& attempt = *state_.find(id)->attempt;
  decision.emit(AttemptStarting{id, attempt.number});
  for (int rank = 0; rank < static_cast<int>(attempt.ranks.size()); ++rank) {
    decision.emit(RankRunning{id, attempt.number, rank});
  }
  decision.emit(AttemptRunning{id, attempt.number});
}

// Levels of what runs are the same mix, moved up: on a full cluster the lowest have to wait.
void PlanWorld::run(const Placement& placement, UnixTime since) {
  const Person& person = rng_.pick(people_);
  const Priority drawn = std::max(rng_.pick(kLevels), Priority::below_normal);
  JobSpec spec{.name = "job", .priority = drawn};
  spec.node_count = static_cast<int>(placement.size());
  const int gpus = placement.front().gpus.count();
  const bool exclusive = gpus == kGpus;
  if (!exclusive) spec.gpus_per_node = gpus;
  const JobId id = submit(person.name, std::make_shared<const JobSpec>(std::move(spec)),
                          since - Duration(rng_.between(0, 3'600'000'000)));
  emit_at(since, AttemptPlaced{id, 1, placement, drawn, 10'000, exclusive});
  Decision decision(state_, knobs_, since);
  confirm(decision, id);
  if (rng_.chance(0.5)) {
    const Duration ran = now_ - since;
    emit(CheckpointReported{
        id, 1, {.step = 1, .path = "c", .at = now_ - Duration(rng_.between(0, ran.count() / 2))}});
  }
}

void PlanWorld::fill() {
  for (int node = 1; node <= size_.nodes;) {
    const UnixTime since = now_ - Duration(rng_.between(0, 3 * 3'600'000'000));
    if (rng_.chance(0.1)) {
      const int share = rng_.pick(kShares);
      for (int gpu = 0; gpu < kGpus; gpu += share) {
        run({{NodeId{node}, {GpuSet::first(share).bits << gpu}}}, since);
      }
      ++node;
      continue;
    }
    const int zone_end = node <= size_.nodes / 2 ? size_.nodes / 2 : size_.nodes;
    const int count =
        std::min({rng_.pick(kRunningGangs), zone_end - node + 1, std::max(1, size_.nodes / 8)});
    Placement placement;
    for (int i = 0; i < count; ++i) {
      placement.push_back({NodeId{node++}, GpuSet::first(kGpus)});
    }
    run(placement, since);
  }
}

void PlanWorld::add_queued(int count) {
  for (int i = 0; i < count; ++i) {
    const Person& person = rng_.pick(people_);
    submit(person.name, rng_.pick(person.habits),
           now_ - kQueueAge + kQueueAge * (i + 1) / (count + 1));
  }
}

void PlanWorld::end(JobId id, bool suspended) {
  Decision decision(state_, knobs_, now_);
  const Attempt attempt = *state_.find(id)->attempt;
  const ExitCause cause = suspended ? ExitCause::go_suspend : ExitCause::program;
  for (int rank = 0; rank < static_cast<int>(attempt.ranks.size()); ++rank) {
    decision.emit(RankEnded{id, attempt.number, rank, RankState::exited, cause, 0, ""});
  }
  settle_attempt(decision, id);
  (void)state_.take_touched();
}

bool PlanWorld::end_one() {
  const int64_t first = rng_.between(0, size_.nodes - 1);
  for (int64_t i = 0; i < size_.nodes; ++i) {
    const NodeId node{(first + i) % size_.nodes + 1};
    for (const Occupant& occupant : state_.find(node)->occupants) {
      const Attempt& attempt = *state_.find(occupant.job)->attempt;
      if (attempt.state != AttemptState::running || attempt.ranks.size() > 1) continue;
      end(occupant.job, false);
      return true;
    }
  }
  return false;
}

Plan PlanWorld::pass(bool takes_turns) {
  planner_.update(state_, state_.take_changes());
  planner_.set_turns_at(takes_turns ? UnixTime::min() : now_);
  return planner_.pass(state_, knobs_, now_);
}

void PlanWorld::make_true(const Plan& plan) {
  Decision decision(state_, knobs_, now_);
  carry_out(decision, plan);
  for (const StartItem& item : plan.starts) confirm(decision, item.job);
  for (const ReserveItem& item : plan.reserves) {
    for (JobId victim : item.victims) {
      if (state_.find(victim)->has_live_attempt()) end(victim, true);
    }
  }
  (void)state_.take_touched();
}

int PlanWorld::settle(bool takes_turns, int passes_max) {
  for (int passes = 1; passes <= passes_max; ++passes) {
    const Plan plan = pass(takes_turns);
    const bool is_idle = plan.starts.empty() && plan.reserves.empty() && plan.drops.empty() &&
                         plan.continues.empty() && plan.suspends.empty();
    if (is_idle && !plan.is_partial) return passes;
    make_true(plan);
  }
  return -1;
}

}  // namespace hai::bench
