#pragma once
// Names of people and of the groups that they are in, as a shell, a file and a table can hold them:
// what LDAP and Unix give people. Clients judge them before they ask a server, which judges again.

#include <string_view>

#include "common/status.h"

namespace hai {

// `what` says whose name it is: "user name". invalid_argument with the characters that may be.
Status check_account_name(std::string_view what, std::string_view name);

}  // namespace hai
