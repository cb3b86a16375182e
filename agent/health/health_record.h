#pragma once
// What the checks of a node have found and seen, in DATA_DIR/health.json for the agent's next
// start: an agent that is restarted knows what its predecessor knew. Faults stand until their check
// has looked again; of what a check has seen, CheckMemory says what holds after a restart of the
// machine.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/health/check_memory.h"
#include "common/health.h"
#include "common/status.h"

namespace hai {

struct CheckRecord {
  CheckMemory memory;
  std::vector<CheckResult> faults;  // its results that fail
  bool operator==(const CheckRecord&) const = default;
};

struct HealthRecord {
  std::string boot_id;
  std::map<std::string, CheckRecord> checks;  // by their names
  std::string damage;                         // why a part could not be read; "" = all could
  bool operator==(const HealthRecord&) const = default;
};

// As if written in this boot: what held only in another one is left out. What a newer agent wrote
// and this one does not know is ignored; a part that cannot be read is left out and named in
// `damage`. not_found if there is no file; any other error if none of it can be read.
Result<HealthRecord> read_health_record(const std::string& path, const std::string& boot_id);
Status write_health_record(const std::string& path, const HealthRecord& record);

inline std::string health_record_path(const std::string& data_dir) {
  return data_dir + "/health.json";
}

// Writes the latest record it is given, elsewhere than on the caller's thread: a disk that hangs
// delays nobody. Owned by one thread.
class HealthRecordWriter {
 public:
  // `start_work` as HealthMonitor's.
  using StartWork = std::function<bool(std::function<void()> work)>;
  HealthRecordWriter(std::string path, StartWork start_work);
  // Waits a moment for the last one to be written.
  ~HealthRecordWriter();
  HealthRecordWriter(const HealthRecordWriter&) = delete;
  HealthRecordWriter& operator=(const HealthRecordWriter&) = delete;

  void write(HealthRecord record);
  // Of the last one that was tried.
  Status status() const;

 private:
  struct Desk;
  static void work(Desk& desk);
  StartWork start_work_;
  std::shared_ptr<Desk> desk_;
};

}  // namespace hai
