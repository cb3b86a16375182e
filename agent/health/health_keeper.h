#pragma once
// Keeps the health record of a node (health_record.h) up to date for the agent's next start.
// Writes only what is new. Owned by the monitor; its thread only.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/health/health_record.h"

namespace hai {

enum class Keeping { reads, writes };

class HealthKeeper {
 public:
  // Reads what a predecessor has left. Without it nothing is known and nothing is kept.
  // `start_work` as HealthMonitor's.
  void open(const std::string& path, const std::string& boot_id, Keeping keeping,
            HealthRecordWriter::StartWork start_work);

  CheckRecord& known_of(const std::string& check) { return record_.checks[check]; }
  // `check` has looked: what fails, with its times, and what it remembers; none = as before.
  void note(const std::string& check, std::vector<CheckResult> faults,
            std::optional<CheckMemory> memory);
  // What is wrong with the record itself.
  std::optional<CheckResult> complaint() const;

 private:
  HealthRecord record_;
  std::unique_ptr<HealthRecordWriter> writer_;  // null = nothing is written
  bool is_written_ = false;                     // since the start: a damaged file is replaced
};

}  // namespace hai
