#pragma once
// Makes recorded planning passes again: the production planner, on the state as the log has it,
// with the knobs in force and the time of the pass, must decide the same events.
//
// Two things of a pass are in no log. Whether jobs of one level took turns in it, which they do at
// most once in plan_period: both are tried, and two passes that can only have taken turns must be
// that far apart. And passes that decided nothing: they change nothing either.

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "common/knobs.h"
#include "server/plan/time_sharing.h"
#include "sim/replay/replay_report.h"

namespace hai {

inline constexpr std::string_view kScheduler = "scheduler";  // the actor of a pass

class PassCheck {
 public:
  PassCheck(ClusterState& state, ReplayReport& report) : state_(state), report_(report) {}

  // An event of no pass, which `state` has been given already.
  void follow(const Event& event);
  // Checks all events of one turn's pass (or passes) and applies them to the state. `data_loss` for
  // one that does not fit.
  Status check(std::span<const Event> recorded);
  // Forgets what only the store would need.
  void end_turn();
  // What a pass would decide now, one line; "" for nothing.
  std::string would_decide(UnixTime now);
  const Knobs& knobs() const { return knobs_; }

 private:
  struct Candidate {
    Plan plan;
    bool takes_turns = false;
    bool is_certain = false;  // without turns (or with them) the plan would be another
  };
  void take_knobs(const EpochStarted& started);
  void take_knob(const std::string& name, const std::string& value, const Event& event);
  std::vector<Candidate> candidates(UnixTime now);
  // How many of `recorded` the candidate decides, from the first on; 0 if its events are not a
  // beginning of them. Then `first_difference` says where they part.
  size_t decide(const Candidate& candidate, std::span<const Event> recorded,
                std::optional<Difference>& first_difference);
  void accept(const Candidate& candidate, std::span<const Event> events);
  Status apply_as_recorded(std::span<const Event> events);
  void differ(Difference difference);
  void note_turns(UnixTime now, int64_t seq);

  ClusterState& state_;
  ReplayReport& report_;
  ClusterState scratch_;  // equal to state_, but while a candidate is tried
  Knobs knobs_;
  TimeSharingPlanner planner_{VictimChoice::least_lost_work};
  std::optional<UnixTime> turns_at_;  // the last that are certain
};

}  // namespace hai
