#pragma once
// What is kept of the steps of an attempt: two lines of JSON for each, when it begins and when it
// ends, which the job's first rank gives its shim and sacct, squeue -s and scontrol show step read.
// Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.h"

namespace hai::cli::slurm {

// What processes have used, as the kernel counted it.
struct TaskUsage {
  Duration cpu_time{0};           // user's and system's
  int64_t peak_memory_bytes = 0;  // resident, of the one that had most
  // Also what those have used that it stands for: times add up, of peaks the highest counts.
  void add(const TaskUsage& other);
  bool operator==(const TaskUsage&) const = default;
};

struct StepRecord {
  uint32_t number = 0;
  std::string name;  // of its program
  int tasks = 0;
  int64_t cpus = 0;   // of all tasks; 0 = it has not asked for any
  int gpus = 0;       // likewise
  std::string nodes;  // a hostlist, in their order
  int node_count = 0;
  UnixTime began_at{};
  std::optional<UnixTime> ended_at;  // none: it runs, or its attempt has ended before it
  int exit_code = 0;
  bool is_cancelled = false;  // somebody ended it (scancel)
  std::string socket;         // where the job's first rank is told to; "" = it cannot be
  TaskUsage used;
  bool operator==(const StepRecord&) const = default;
};

// JSON objects of at most 8 KiB.
std::string record_of_begin(const StepRecord& step);
std::string record_of_end(const StepRecord& step);

// By number. Lines that are no such record are left out: a program of the job can write them, too.
std::vector<StepRecord> parse_step_records(std::string_view lines);

}  // namespace hai::cli::slurm
