#pragma once
// Runs the checks of a node and keeps what they say as one list. Owned and used by the loop's
// thread; each run of a check is a thread of its own, because any of them may block. A check that
// is past its deadline is `unknown`, is not started again before it ends, and delays nobody:
// neither the loop nor another check. A failure it had found stands meanwhile, so that a driver
// that hangs cannot hide a GPU that is lost. One that hangs for kStuckAfter is a failure itself
// (check_stuck): a driver that answers nobody serves no job either.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/health/check.h"
#include "agent/health/health_keeper.h"
#include "agent/health/results.h"
#include "common/loop.h"

namespace hai {

class HealthMonitor {
 public:
  // Runs the work somewhere that may block; false = cannot now. The default is a new thread.
  using StartWork = std::function<bool(std::function<void()> work)>;
  static bool start_thread(std::function<void()> work);

  HealthMonitor(Loop& loop, std::vector<std::unique_ptr<Check>> checks,
                StartWork start_work = start_thread);
  // Waits a moment for what runs; what hangs is left behind and touches nothing of the monitor.
  ~HealthMonitor();
  HealthMonitor(const HealthMonitor&) = delete;
  HealthMonitor& operator=(const HealthMonitor&) = delete;

  // Before anything runs: what a predecessor has left at `path` (health_record.h) stands until its
  // check has looked again; a writer keeps it up to date from now on.
  void keep_at(const std::string& path, const std::string& boot_id, Keeping keeping);

  // Every check once in its period, from now on. Their first runs are spread a little.
  void start();
  // Every check once, now; `done` when each has ended or is past its deadline.
  void run_once(std::function<void()> done);

  void set_use(NodeUse use) { use_ = std::move(use); }
  void set_on_change(std::function<void()> callback) { on_change_ = std::move(callback); }
  // Forgets what was seen of it up to `at`, and looks again at once.
  void clear(const std::string& name, const std::string& subject, UnixTime at);

  // check_stuck of each check that is past its deadline now, for who cannot wait kStuckAfter.
  std::vector<CheckResult> stuck_now() const;

  // Sorted by name and subject, each pair once, at most kResultsMax.
  const std::vector<CheckResult>& results() const { return results_; }
  // The same as long as nothing but readings changes.
  uint64_t digest() const { return digest_; }

  static constexpr size_t kResultsMax = 512;
  static constexpr Duration kStuckAfter{5min};
  static constexpr size_t kSummaryBytesMax = 512;

 private:
  struct Slot;
  struct Door;
  void begin(Slot& slot);
  void end(Slot& slot, std::vector<CheckResult> results, std::optional<CheckMemory> memory);
  void give_up_waiting(Slot& slot);
  void wait_on(Slot& slot);
  void say_stuck(Slot& slot);
  void say_unknown(Slot& slot, const CheckFinding& finding);
  void schedule(Slot& slot, Duration delay);
  void merge();
  std::vector<CheckResult> faults_of(const Slot& slot) const;
  void finish_round();

  Loop& loop_;
  StartWork start_work_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::shared_ptr<Door> door_;
  NodeUse use_;
  std::vector<CheckResult> results_;
  uint64_t digest_ = 0;
  HealthKeeper keeper_;
  bool is_started_ = false;
  std::function<void()> on_change_;
  std::function<void()> on_round_end_;
};

}  // namespace hai
