#pragma once
// What a planned world does: its deeds and acts at their times or decision points, and its messages
// that are held back.

#include <vector>

#include "sim/decision_points.h"
#include "sim/workload.h"
#include "sim/world_plan.h"

namespace hai {

class Triggers {
 public:
  Triggers(World& world, Deeds& deeds, Workload& workload);
  // Arms all that the plan lists.
  void arm(const WorldPlan& plan);
  void see(const Moment& moment);
  void stop() { waiting_.clear(); }  // all is healed: nothing waits for its point any more

 private:
  struct Waiting {
    When when;
    std::function<void(const Moment&)> act;
    bool is_hold = false;
  };
  void arm(const When& when, std::function<void(const Moment&)> act);
  void strike(Deed deed, int node);

  World& world_;
  Deeds& deeds_;
  Workload& workload_;
  VirtualLoop loop_;
  std::vector<Waiting> waiting_;
  int hold_next_ = 0;  // of the message that leaves now
};

}  // namespace hai
