#pragma once
// Names of people and of the groups that they are in, judged before a server is asked. It judges
// them the same way (server/control/verbs/account.cpp).

#include <string_view>

#include "common/status.h"

namespace hai {

// `what` says whose name it is: "user name". invalid_argument with the characters that may be.
Status check_account_name(std::string_view what, std::string_view name);

}  // namespace hai
