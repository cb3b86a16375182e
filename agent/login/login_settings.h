#pragma once
// Who comes in to a node by ssh although no job of his runs there (docs/operations/ssh.md).

#include <string>
#include <vector>

#include "agent/shim/user_identity.h"

namespace hai {

// Of the agent's config.
struct LoginSettings {
  std::vector<std::string> admin_users;   // Unix accounts
  std::vector<std::string> admin_groups;  // Unix groups, primary or not
};

// Who logs in: the account's name, and what the node's user database says of it.
struct LoginUser {
  std::string name;
  UserIdentity identity;
};

// Whether he is let in without a job, and is not bound to one if he has any. Root always is.
bool needs_no_job(const LoginUser& user, const LoginSettings& settings);

// Those of the groups that this machine does not know. Asks its user database.
std::vector<std::string> unknown_groups(const std::vector<std::string>& groups);

}  // namespace hai
