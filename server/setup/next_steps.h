#pragma once

#include <string>

#include "server/setup/setup_plan.h"
#include "server/setup/sign_in.h"

namespace hai {

inline constexpr const char* kBackupTimer = "hai-backup.timer";

// What runs on this machine from now on.
struct Started {
  bool server = false;
  bool backups = false;
};

// What to do after a setup, as lines that can be copied. `token`: the first administrator's, if it
// was made just now; shown this once.
std::string next_steps(const SetupPlan& plan, const Started& started, const std::string& token,
                       const SignedIn& signed_in);

// After a further server, at `address`, has been added to this one.
std::string next_steps_beside(const SetupPlan& plan, const std::string& address,
                              const SignedIn& signed_in);

}  // namespace hai
