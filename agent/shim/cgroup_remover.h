#pragma once
// Removes a rank's cgroups when no process of the rank itself is left. What else is in them was
// moved there from outside, as hai-pam does with logins (agent/login), and ends with the rank: it
// is killed, and the rank has ended only when it is gone, for until then it may use the rank's
// GPUs.

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "agent/shim/boot_timer.h"
#include "common/time.h"

namespace hai {

// A process that waits in the kernel, for a disk of the network that does not answer, stays
// although it was killed. The rank does not wait for it any longer than this: its whole gang would.
inline constexpr Duration kRemovePatience = 60s;

class CgroupRemover {
 public:
  CgroupRemover(boost::asio::io_context& context, std::vector<std::string> directories,
                Duration patience = kRemovePatience);

  // To be called once, when nothing is let into the directories any more. `done` is called when no
  // process is left in them, at once if none is there now, or when patience has run out: then with
  // the processes that are left, all killed. A directory that the kernel does not remove stays,
  // until the agent starts anew (CgroupHost::remove_others).
  void start(std::function<void(std::vector<pid_t> left)> done);

 private:
  void try_again();

  const std::vector<std::string> directories_;
  const Duration patience_;
  BootTimer timer_;
  Duration pause_;
  MonoTime give_up_at_{};
  std::function<void(std::vector<pid_t>)> done_;
};

}  // namespace hai
