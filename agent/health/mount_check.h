#pragma once
// The mounts that jobs need, and the room on the file systems of the node.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/health/check.h"
#include "agent/health/health_limits.h"
#include "agent/health/mount_probe.h"

namespace hai {

struct MountCheckOptions {
  std::string proc_root = "/proc";
  std::vector<std::string> mounts;        // must be mounted, writable and answer
  std::vector<std::string> file_systems;  // must have room
  HealthLimits limits;
  Duration patience{3s};
};

// Pure. `silences`: probes in a row that were not answered, this one included.
struct MountReading {
  std::string path;
  bool is_mounted = true;
  bool was_writable = false;      // when it was asked before
  bool is_writable_mount = true;  // as the list of mounts says
  int64_t silences = 0;
  FileSystemAnswer answer;
};
CheckResult judge_mount(const MountReading& reading, const HealthLimits& limits);
CheckResult judge_room(const MountReading& reading, const HealthLimits& limits);

// The mount points of a text like /proc/mounts; true = read-write. Of two on one path the later
// counts.
std::map<std::string, bool> parse_mounts(const std::string& text);

class MountCheck final : public Check {
 public:
  explicit MountCheck(MountCheckOptions options, MountProbe::Ask ask = MountProbe::ask_statfs);
  std::vector<CheckResult> run(const CheckInput& input) override;
  CheckMemory memory() const override;
  void restore(const CheckMemory& memory) override;

 private:
  MountCheckOptions options_;
  MountProbe probe_;
  std::map<std::string, int64_t> silences_;
  std::set<std::string> writable_;  // have been
};

}  // namespace hai
