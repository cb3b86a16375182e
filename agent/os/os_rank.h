#pragma once
// What OsRankHost knows of one rank; its own business, shared by the files that make it up.

#include <memory>
#include <string>
#include <vector>

#include "agent/os/os_rank_host.h"

namespace hai {

struct OsRankHost::Rank {
  enum class Wish { none, suspended, goes_on };

  RankDirectory directory;
  std::string socket_dir;
  std::vector<std::string> cgroups;
  std::string proof;  // of its launch
  RankStatus status;
  Duration watchdog{0};
  GpuSet gpus;
  bool is_distributed = false;
  std::unique_ptr<ShimLink> link;
  pid_t shim = 0;  // our child, to be reaped; 0 if another agent process started it
  bool kill_wished = false;
  bool evidence_wished = false;
  std::string evidence;  // a sentence
  std::string why_lost;  // a sentence, where it is known before its processes are gone
  Wish wish = Wish::none;
  MonoTime suspend_deadline{};  // boot time
  bool tell_by_signal = false;  // with the suspend request

  bool is_exited() const { return status.phase == RankPhase::exited; }
};

}  // namespace hai
