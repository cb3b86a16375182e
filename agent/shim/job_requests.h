#pragma once
// The in-job interface: one line of JSON from the program, one line back (docs/contract.md, What a
// job sees). Whatever the program sends, the answer is a line and the connection stays usable.

#include <cstdint>
#include <string>
#include <string_view>

#include "common/agent_messages.h"
#include "common/status.h"

namespace hai {

inline constexpr size_t kWholeLifeStateBytesMax = 64 << 10;
inline constexpr size_t kCheckpointPathBytesMax = 4096;
inline constexpr size_t kStepRecordBytesMax = 8 << 10;

// What a program can ask of its shim.
class JobPort {
 public:
  virtual ~JobPort() = default;
  virtual bool is_suspend_requested() const = 0;
  virtual void go_suspend() = 0;  // takes effect after the answer has left
  virtual void report_checkpoint(int64_t step, std::string path, double save_seconds) = 0;
  virtual void report_progress(int64_t step) = 0;
  // Adds to what was reported, or replaces it. An error if there would be too many names.
  virtual Status report_metrics(const RankMetrics& metrics) = 0;
  virtual std::string whole_life_state() const = 0;
  virtual void set_whole_life_state(std::string state) = 0;
  virtual void set_watchdog(Duration watchdog) = 0;  // 0 = off
  // What hai-slurm, which starts the programs of the rank, says of one of their steps: a line of
  // JSON, kept as it is. An error if it cannot be kept.
  virtual Status record_step(std::string_view line) = 0;
  virtual void note_sdk() = 0;  // a program of the rank has said or asked something
};

std::string answer_job_request(std::string_view line, JobPort& port);

}  // namespace hai
