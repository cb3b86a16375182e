#pragma once
// Runs a site's command for a repair, such as a GPU reset or a reboot.

#include <functional>
#include <string>

#include "common/agent_messages.h"
#include "common/loop.h"

namespace hai {

struct SiteHooks {
  std::string reset_gpus;  // a command for /bin/sh; "" = there is none
  std::string reboot;
};

// Starts the command of the order on a thread of its own; `done` on the loop when it has ended,
// with the last line that it wrote. It finds HAI_REPAIR (the action), HAI_REASON and HAI_NODE_NAME
// in its environment. Exit code 127 and a sentence if there is no command.
void run_site_hook(Loop& loop, const SiteHooks& hooks, const RunHook& order,
                   const std::string& node, std::function<void(HookResult)> done);

}  // namespace hai
