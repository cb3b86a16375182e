#pragma once
// One health check: how often it looks, how long it may take, and what it then says. run() is
// called on a thread of its own, never twice at once, so a check may keep what it saw last time
// without a lock. It knows only what CheckInput tells it and what it reads itself.

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/health/check_memory.h"
#include "common/gpu_set.h"
#include "common/health.h"
#include "common/time.h"

namespace hai {

// How our ranks use the node, as its agent knows it.
struct NodeUse {
  GpuSet gpus_in_use;
  std::vector<pid_t> rank_pids;         // all processes of our ranks
  bool has_distributed_rank = false;    // one of a job of several nodes runs here
  std::optional<Duration> server_skew;  // server's wall clock − ours; none = not known yet
};

// Somebody vouches that what was seen of (name, subject) up to `at` is mended.
struct ClearedFault {
  std::string name;
  std::string subject;
  UnixTime at{};
};

struct CheckInput {
  MonoTime now{};  // since the machine's start
  UnixTime wall_now{};
  NodeUse use;
  std::vector<ClearedFault> cleared;  // since the last run
};

struct CheckPace {
  Duration period{30s};
  Duration deadline{5s};
};

class Check {
 public:
  Check(std::string name, CheckPace pace) : name_(std::move(name)), pace_(pace) {}
  virtual ~Check() = default;
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  const std::string& name() const { return name_; }
  Duration period() const { return pace_.period; }
  Duration deadline() const { return pace_.deadline; }
  // A result without `at` became so when the list of results first says it.
  virtual std::vector<CheckResult> run(const CheckInput& input) = 0;
  // What a later run cannot find out again; asked for on the thread of run(), after it.
  virtual CheckMemory memory() const { return {}; }
  // Before the first run: what the agent before this one remembered.
  virtual void restore(const CheckMemory&) {}

 private:
  std::string name_;
  CheckPace pace_;
};

}  // namespace hai
