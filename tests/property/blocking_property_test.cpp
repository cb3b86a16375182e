// The facts that hold a job up, against the planner itself: without all of them it starts the job
// or makes room for it; with any one left it does not. One thing is approximated: which jobs of its
// own level a job may afford to interrupt is decided before it is known which of them it needs, the
// cheapest first. So where the planner would ask another one a fact is needless, in 2
// of 40,000 worlds with 470,000 facts.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "server/plan/blocking.h"
#include "server/plan/hypothesis.h"
#include "tests/property/random_plan_world.h"
#include "tests/property/seeds.h"

namespace hai::test {
namespace {

constexpr int64_t kLimbo = 1'000'000;  // ids of nodes where jobs go that are thought away

// The world with only this job waiting, and some facts gone. A job that is thought away still
// counts as its user's GPU time: it runs elsewhere.
class World {
 public:
  World(const Cluster& c, JobId job) : knobs_(c.knobs), now_(c.now), id_(job) {
    const ClusterState& state = c.state();
    stored_.last_job = state.last_job();
    for (const auto& [id, node] : state.nodes()) {
      Node bare = node;
      bare.occupants.clear();
      bare.held.clear();
      stored_.nodes.push_back(std::move(bare));
    }
    for (const auto& [name, user] : state.users()) stored_.users.push_back(user);
    for (const auto& [key, quota] : state.quotas()) stored_.quotas.push_back(quota);
    for (const auto& [id, other] : state.jobs()) {
      if (other.is_terminal()) continue;
      if (!other.has_live_attempt() && !other.reservation && id != job) continue;
      stored_.jobs.push_back(other);
      if (other.reservation) pin(stored_.jobs.back());
    }
    // The next pass gives back what can't be used any more: then those jobs are not there either.
    for (const DropItem& item : plan(ClusterState(stored_), knobs_, now_).drops) {
      if (item.reason.starts_with("a job of higher")) continue;
      if (item.job == id_) {
        find(id_).reservation.reset();
        find(id_).spec = c.job(id_).spec;
        continue;
      }
      std::erase_if(stored_.jobs, [&](const Job& other) { return other.id == item.job; });
    }
  }

  void remove(const BlockingFact& fact) {
    Job& mine = find(id_);
    switch (fact.kind) {
      case BlockingKind::user_inactive:
        for (User& user : stored_.users) user.active = true;
        return;
      case BlockingKind::held:
        mine.held = false;
        return;
      case BlockingKind::begin_time: {
        JobSpec spec = *mine.spec;
        spec.begin_at.reset();
        mine.spec = std::make_shared<const JobSpec>(spec);
        return;
      }
      case BlockingKind::backoff:  // these worlds have none of both
      case BlockingKind::array:
        return;
      case BlockingKind::dependency:
        std::erase_if(mine.unmet_dependencies,
                      [&](const Dependency& each) { return each.job == fact.job; });
        if (mine.failed_dependency == fact.job) mine.failed_dependency = {};
        return;
      case BlockingKind::quota: {
        const Priority level =
            mine.priority == Priority::automatic ? Priority::normal : mine.priority;
        stored_.quotas.push_back({mine.user, mine.spec->group, level, Quota::kUnlimited});
        return;
      }
      case BlockingKind::node:
        for (Node& node : stored_.nodes) {
          if (node.id != fact.node) continue;
          node.liveness = Liveness::up;
          node.scheduling = Scheduling::open;
        }
        return;
      case BlockingKind::job:
      case BlockingKind::reservation:
      case BlockingKind::cross_zone:
        return remove_job(fact.job);
      case BlockingKind::hardware:
        return;
    }
  }

  bool could_start() const { return victims_to_start().has_value(); }

  // Who would have to leave; nullopt if it can't start.
  std::optional<std::vector<JobId>> victims_to_start() const {
    const ClusterState state(stored_);
    const Plan made = plan(state, knobs_, now_);
    for (const StartItem& item : made.starts) {
      if (item.job == id_) return std::vector<JobId>();
    }
    // Moving others together is no right of the job: it depends on what else waits and on how many
    // were moved in the last hour.
    for (const ReserveItem& item : made.reserves) {
      if (item.job == id_ && !item.is_move) return item.victims;
    }
    return std::nullopt;
  }

 private:
  // Whoever holds nodes may start on others that are free. What holds it up are those who leave its
  // own; and that another one may do so before this job is left out, as all that wait are.
  static void pin(Job& holder) {
    JobSpec spec = *holder.spec;
    spec.node_filter.nodes = "nowhere-else";
    holder.spec = std::make_shared<const JobSpec>(spec);
  }

  Job& find(JobId id) { return *std::ranges::find(stored_.jobs, id, &Job::id); }

  void remove_job(JobId id) {
    Job& job = find(id);
    if (!job.has_live_attempt()) {
      std::erase_if(stored_.jobs, [&](const Job& other) { return other.id == id; });
      return;
    }
    JobSpec spec = *job.spec;
    spec.group = "limbo";
    job.spec = std::make_shared<const JobSpec>(spec);
    for (Rank& rank : job.attempt->ranks) {
      Node limbo;
      limbo.id = NodeId{kLimbo + static_cast<int64_t>(stored_.nodes.size())};
      limbo.facts = {.name = fmt::format("limbo-{}", limbo.id.value),
                     .group = "limbo",
                     .zone = "limbo",
                     .gpus = 8};
      rank.place.node = limbo.id;
      stored_.nodes.push_back(std::move(limbo));
    }
  }

  StoredState stored_;
  Knobs knobs_;
  UnixTime now_;
  JobId id_;
};

bool is_obstacle(const Hypothesis& hypothesis, JobId id) {
  return std::ranges::any_of(hypothesis.obstacles(), [&](const Obstacle& each) {
    return each.kind == Obstacle::Kind::job && each.job == id;
  });
}

// One that the job may interrupt, and that was not taken into account for what others would cost.
bool is_beyond_approximation(const Cluster& c, const Hypothesis& hypothesis, JobId victim) {
  return is_obstacle(hypothesis, victim) &&
         hypothesis.index().running.may_interrupt(c.knobs, hypothesis.requester(),
                                                  hypothesis.index().ledger,
                                                  *hypothesis.index().running.find(victim));
}

std::string texts(const std::vector<BlockingFact>& facts) {
  std::string all;
  for (const BlockingFact& fact : facts)
    all += fmt::format("\n  {}: {}", to_string(fact.kind), fact.text);
  return all;
}

TEST(BlockingSet, IsSoundAndMinimal) {
  int sets = 0;
  int facts_seen = 0;
  int approximated = 0;
  Seeds seeds(400);
  for (uint64_t seed : seeds) {
    const Cluster c = random_cluster(seed);
    for (const auto& [order, id] : c.state().waiting()) {
      const std::vector<BlockingFact> facts = blocking_set(c.state(), c.knobs, c.now, id);
      if (!facts.empty() && facts.back().kind == BlockingKind::hardware) continue;
      ++sets;
      facts_seen += static_cast<int>(facts.size());
      World without_all(c, id);
      for (const BlockingFact& fact : facts) without_all.remove(fact);
      // The planner's search for victims is a heuristic: whoever may be interrupted may be gone.
      World without_victims = without_all;
      const Hypothesis hypothesis(c.state(), c.knobs, c.now, c.job(id));
      for (JobId live : c.state().live()) {
        if (!is_obstacle(hypothesis, live)) without_victims.remove({.job = live});
      }
      EXPECT_TRUE(without_all.could_start() || without_victims.could_start())
          << "seed " << seed << ", job " << id.value << ": not enough" << texts(facts);
      for (size_t kept = 0; kept < facts.size(); ++kept) {
        World with_one(c, id);
        for (size_t i = 0; i < facts.size(); ++i) {
          if (i != kept) with_one.remove(facts[i]);
        }
        const auto victims = with_one.victims_to_start();
        if (!victims) continue;
        const bool is_approximated = std::ranges::any_of(
            *victims, [&](JobId victim) { return is_beyond_approximation(c, hypothesis, victim); });
        approximated += is_approximated;
        EXPECT_TRUE(is_approximated)
            << "seed " << seed << ", job " << id.value << ": needless is " << kept << texts(facts);
      }
    }
  }
  EXPECT_GT(sets, seeds.more_than(500));
  EXPECT_GT(facts_seen, seeds.more_than(sets));
  EXPECT_LE(approximated, facts_seen / 10'000);
  RecordProperty("approximated", approximated);
  std::printf("  %d facts of %d jobs, %d needless for what others would cost\n", facts_seen, sets,
              approximated);
}

}  // namespace
}  // namespace hai::test
