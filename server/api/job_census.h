#pragma once
// Sums over all unfinished jobs: what runs by user, group and priority, what waits and why. An
// array is not counted itself but its tasks, also those that are still to come. Counted in slices,
// so that it holds up nobody, and again only after a pause that follows its cost; who asks
// meanwhile gets the last sums, with their time. On the loop's thread.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/loop_scope.h"
#include "server/api/source.h"
#include "server/control/engine/controller.h"

namespace hai {

struct JobSums {
  int64_t jobs = 0;
  int64_t nodes = 0;
  int64_t gpus = 0;
};
using SumsByWord = std::map<std::string, JobSums>;

// Tasks of an unfinished array that are no jobs yet.
int64_t tasks_to_come(const Job& array, const ArrayRange& range);

struct CensusView {
  UnixTime at{};
  SumsByWord running_by_user, running_by_group, running_by_priority;
  SumsByWord waiting_by_reason, waiting_by_user, waiting_by_group, waiting_by_priority;
};

class JobCensus {
 public:
  JobCensus(Loop& loop, Controller& controller) : loop_(loop), controller_(controller) {}

  // Calls `done` at once if the sums are fresh or cannot be counted anew, else after counting.
  void ask(std::function<void(const CensusView&)> done);
  // The last sums, for metrics; starts to count anew if they are old.
  const CensusView& last();
  void forget();  // another term: nothing is known

 private:
  void begin();
  void slice();
  bool count_running(int& budget);
  bool count_waiting(int& budget);
  void finish();

  Loop& loop_;
  Controller& controller_;
  CensusView view_;
  CensusView counting_;
  bool is_counting_ = false;
  bool is_known_ = false;
  MonoTime began_{};
  MonoTime fresh_until_{};
  JobId running_after_;
  ClusterState::WaitingKey waiting_after_{};
  bool is_running_done_ = false;
  std::map<std::string, int> gpus_of_group_;
  std::vector<std::function<void(const CensusView&)>> waiting_;
  LoopScope scope_;
};

}  // namespace hai
