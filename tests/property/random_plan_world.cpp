#include "tests/property/random_plan_world.h"

#include <algorithm>
#include <array>

#include "server/control/attempt/attempt_flow.h"
#include "server/plan/carry_out.h"

namespace hai::test {
namespace {

constexpr std::array kLevels = {Priority::automatic, Priority::low, Priority::normal,
                                Priority::high, Priority::extreme_high};
// Few levels, so that many jobs are of one.
constexpr std::array kTurnLevels = {Priority::automatic, Priority::low,    Priority::normal,
                                    Priority::normal,    Priority::normal, Priority::above_normal};

class Life {
 public:
  Life(uint64_t seed, const RandomWorldOptions& options)
      : rng_(seed), options_(options), c_(nodes()) {
    if (options.turns) draw_knobs();
    if (options.quotas && rng_.chance(0.5)) {
      c_.clear_quotas();
      for (Priority level : kPriorities)
        c_.set_quota("public", "*", level, rng_.between(0, options.nodes_max));
    }
  }

  Cluster run() {
    int jobs = static_cast<int>(rng_.between(1, options_.jobs_max));
    for (int i = 0; i < jobs; ++i) {
      JobBuilder builder = random_job(rng_, fmt::format("j{}", i),
                                      static_cast<int>(c_.state().nodes().size()), options_.shares);
      builder.user(rng_.chance(0.5) ? "ann" : "bob");
      if (options_.turns) builder.priority(rng_.pick(kTurnLevels));
      if (options_.host) ask_for_host(builder);
      if (options_.filters) ask_for_nodes(builder);
      c_.submit(builder);
      c_.advance(Duration(rng_.between(0, 1'800'000'000)));
      while (rng_.chance(0.6)) {
        step();
        give_back_early();
        if (options_.after_step) options_.after_step(c_);
      }
    }
    return c_;
  }

 private:
  std::vector<NodesBuilder> nodes() {
    std::vector<NodesBuilder> parts;
    int count = static_cast<int>(rng_.between(1, options_.nodes_max));
    int zones = options_.zones ? static_cast<int>(rng_.between(1, 3)) : 1;
    for (int i = 0; i < count; ++i) {
      int zone = i * zones / count;
      const bool has_gpus = !options_.host || i == 0 || rng_.chance(0.8);
      parts.push_back(test::nodes(1, gpus(has_gpus ? 8 : 0))
                          .memory_gib(options_.host ? 500 : 0)
                          .gpu_model(options_.filters && i % 2 == 0 ? "NVIDIA H800" : "A100")
                          .zone(std::string(1, static_cast<char>('A' + zone)))
                          .leaf(fmt::format("{}-{}", zone, options_.zones ? rng_.below(2) : 0)));
    }
    return parts;
  }

  void ask_for_host(JobBuilder& builder) {
    if (rng_.chance(0.35)) builder.gpus(kNoGpus);
    if (rng_.chance(0.4))
      builder.cpus(static_cast<int>(rng_.between(1, rng_.chance(0.5) ? 8 : 64)));
    if (rng_.chance(0.3)) builder.memory_gib(rng_.between(1, 500));
  }

  void ask_for_nodes(JobBuilder& builder) {
    const auto any = [&] {
      return rng_.between(1, static_cast<int64_t>(c_.state().nodes().size()));
    };
    switch (rng_.below(6)) {
      case 0:
        builder.gpu_type("h800");
        return;
      case 1:
        builder.label("a100");
        return;
      case 2:
        builder.not_on(fmt::format("node-{}", any()));
        return;
      case 3:
        builder.only_on(fmt::format("node-[{},{}]", any(), any()));
        return;
      default:
        return;
    }
  }

  void draw_knobs() {
    constexpr std::array kQuanta = {Duration(0s), Duration(5min), Duration(30min)};
    constexpr std::array kPercents = {1, 50, 100, 400};
    constexpr std::array kPromotions = {Duration(20min), Duration(1h), Duration(100h)};
    c_.knobs.policy = rng_.chance(0.3) ? Policy::fifo : Policy::feedback;
    c_.knobs.min_quantum = rng_.pick(kQuanta);
    c_.knobs.interrupt_percent = rng_.pick(kPercents);
    c_.knobs.promote_after = rng_.pick(kPromotions);
    c_.knobs.reserve_after = rng_.pick(kQuanta);
  }

  JobId any_live() {
    std::vector<JobId> live(c_.state().live().begin(), c_.state().live().end());
    return live.empty() ? JobId{} : rng_.pick(live);
  }

  void step() {
    switch (rng_.below(8)) {
      case 0:
      case 1:
      case 2:
        c_.pass();
        return;
      case 3:
        return confirm();
      case 4:
        return leave();
      case 5:
        if (JobId id = any_live(); id && c_.attempt(id).running_at)
          c_.checkpoint(id, Duration(rng_.between(0, 3'600'000'000)));
        return;
      case 6:
        return hold();
      default:
        return change_node();
    }
  }

  void confirm() {
    JobId id = any_live();
    if (id && c_.attempt(id).state == AttemptState::placed) c_.confirm(id);
  }

  void leave() {
    JobId id = any_live();
    if (!id) return;
    const bool suspending = c_.attempt(id).state == AttemptState::suspending;
    if (!suspending && !rng_.chance(0.4)) return;
    if (options_.turns && c_.attempt(id).running_at) {
      charge(id, suspending ? ExitCause::go_suspend : ExitCause::program);
    } else if (suspending) {
      c_.leave(id);
    } else {
      c_.finish(id);
    }
  }

  // The attempt ends as in production: its user pays.
  void charge(JobId id, ExitCause cause) {
    c_.decide_with([&](Decision& decision) {
      const Attempt attempt = c_.attempt(id);
      for (int rank = 0; rank < static_cast<int>(attempt.ranks.size()); ++rank) {
        if (is_gone(attempt.ranks[rank].state)) continue;
        decision.emit(RankEnded{id, attempt.number, rank, RankState::exited, cause, 0, ""});
      }
      settle_attempt(decision, id);
    });
  }

  // Of some gangs, from time to time, the last rank that holds a place has done its part. Not
  // drawn: seeds keep their worlds.
  void give_back_early() {
    const JobId id{++steps_ % (c_.state().last_job().value + 1)};
    const Job* job = c_.state().find(id);
    if (id.value % 3 != 0 || job == nullptr || !job->has_live_attempt()) return;
    const Attempt& attempt = *job->attempt;
    if (!attempt.running_at || attempt.end) return;
    if (std::ranges::distance(attempt.holding_ranks()) < 2) return;
    auto last = static_cast<int>(attempt.ranks.size()) - 1;
    while (!attempt.ranks[last].holds_place()) --last;
    if (is_gone(attempt.ranks[last].state)) return;
    c_.decide_with([&](Decision& decision) {
      const AttemptUsage usage = rank_usage(decision, *job, attempt.ranks[last]);
      decision.emit(RankEnded{.job = id,
                              .attempt = attempt.number,
                              .rank = last,
                              .state = RankState::released,
                              .gpu_seconds = usage.had,
                              .user_gpu_seconds = usage.of_user});
    });
  }

  void hold() {
    if (c_.state().last_job().value == 0) return;
    JobId id{rng_.between(1, c_.state().last_job().value)};
    if (c_.job(id).is_terminal()) return;
    std::string name = std::to_string(id.value);
    if (rng_.chance(0.5)) {
      (void)c_.decide(rng_.chance(0.5) ? Command{HoldJob{name, ""}}
                                       : Command{SuspendJob{name, ""}});
    } else {
      (void)c_.decide(ResumeJob{name});
    }
  }

  void change_node() {
    std::string name =
        fmt::format("node-{}", rng_.between(1, static_cast<int64_t>(c_.state().nodes().size())));
    constexpr std::array kScheduling = {Scheduling::open, Scheduling::open, Scheduling::cordoned,
                                        Scheduling::draining};
    if (rng_.chance(0.5)) {
      c_.set_scheduling(name, rng_.pick(kScheduling));
    } else {
      c_.set_liveness(name, rng_.chance(0.7) ? Liveness::up : Liveness::suspect);
    }
  }

  Rng rng_;
  const RandomWorldOptions options_;
  int64_t steps_ = 0;
  Cluster c_;
};

}  // namespace

std::string text_of(const Plan& plan) {
  std::string text;
  auto places = [&](const Placement& placement) {
    for (const RankPlacement& place : placement)
      text += fmt::format(" {}[{}]", place.node.value, to_string(place.gpus));
  };
  for (const auto& item : plan.drops)
    text += fmt::format("drop {} {};", item.job.value, item.reason);
  for (const auto& item : plan.continues) text += fmt::format("continue {};", item.job.value);
  for (const auto& item : plan.suspends) text += fmt::format("suspend {};", item.job.value);
  for (const auto& item : plan.starts) {
    text += fmt::format("start {} at {}", item.job.value, to_string(item.priority));
    places(item.placement);
  }
  for (const auto& item : plan.reserves) {
    text += fmt::format("reserve {} at {}", item.job.value, to_string(item.priority));
    places(item.placement);
    for (JobId victim : item.victims) text += fmt::format(" !{}", victim.value);
  }
  for (const auto& [id, reason] : plan.pending)
    text += fmt::format("pending {} {} {};", id.value, to_string(reason.code), reason.text);
  return text;
}

JobBuilder random_job(Rng& rng, const std::string& name, int nodes, bool shares) {
  constexpr std::array kShares = {1, 2, 4};
  JobBuilder builder = job(name).priority(rng.pick(kLevels));
  builder.nodes(static_cast<int>(rng.between(1, rng.chance(0.5) ? 1 : nodes)));
  if (shares && rng.chance(0.4)) builder.gpus(rng.pick(kShares));
  if (rng.chance(0.2)) builder.max_leaves(1);
  if (rng.chance(0.2)) builder.cross_zone(CrossZone::never);
  // Not drawn: the worlds of the other seeds stay as they were.
  if (name.ends_with("13")) builder.interactive();
  return builder;
}

Cluster random_cluster(uint64_t seed, const RandomWorldOptions& options) {
  return Life(seed, options).run();
}

}  // namespace hai::test
