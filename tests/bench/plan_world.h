#pragma once
// A large, full cluster in its working state: gangs, nodes and shares of many users run, and many
// more jobs wait. Made of real events, and of passes until nothing more can be gained at this
// moment, so that one change is one change.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "common/knobs.h"
#include "common/rng.h"
#include "server/control/verbs/decide.h"
#include "server/plan/time_sharing.h"

namespace hai::bench {

struct WorldSize {
  int nodes = 0;
  int queued = 0;
};

class PlanWorld {
 public:
  explicit PlanWorld(WorldSize size);

  const ClusterState& state() const { return state_; }
  const Knobs& knobs() const { return knobs_; }
  UnixTime now() const { return now_; }
  TimeSharingPlanner& planner() { return planner_; }

  void advance(Duration time) { now_ += time; }
  // Of somebody, as he uses to ask.
  JobId submit();
  JobId submit(Priority level, int node_count);
  // A running job of one node ends well; false if there is none.
  bool end_one();
  void end(JobId job, bool suspended);

  // One pass over what has changed; only if `takes_turns` may levels interrupt themselves.
  Plan pass(bool takes_turns);
  // The controller takes the plan, victims leave at once, whoever is placed runs.
  void make_true(const Plan& plan);
  // Passes until one has nothing to do; how many, −1 if they do not end.
  int settle(bool takes_turns, int passes_max);

 private:
  struct Person {
    std::string name;
    std::array<std::shared_ptr<const JobSpec>, 4> habits;
  };

  void add_nodes();
  void add_people();
  void add_suspended(int count);
  void fill();
  void add_queued(int count);
  std::shared_ptr<const JobSpec> random_spec();
  JobId submit(const std::string& user, std::shared_ptr<const JobSpec> spec, UnixTime at);
  void run(const Placement& placement, UnixTime since);
  void confirm(Decision& decision, JobId job);
  void emit(EventBody body) { emit_at(now_, std::move(body)); }
  void emit_at(UnixTime time, EventBody body);

  const WorldSize size_;
  Rng rng_{1};
  Knobs knobs_;
  UnixTime now_ = unix_micros(1'800'000'000'000'000);
  ClusterState state_;
  TimeSharingPlanner planner_{VictimChoice::least_lost_work};
  std::vector<Person> people_;
};

}  // namespace hai::bench
