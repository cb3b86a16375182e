#pragma once
// Which user of hai somebody is who has signed in at the identity provider.

#include "server/auth/id_token.h"
#include "server/auth/oidc_config.h"
#include "server/model/user.h"

namespace hai {

// The account as it should be from now on. `known`: as it is, nullptr = there is none.
//
// Groups become the user's groups, those that hai can name and 64 of them at most; without the
// claim they stay. A role that a list of groups is given for (oidc.admin_groups, operator_groups)
// is had by who is in one of them and by nobody else; a role without such a list stays as an
// administrator of hai set it. permission_denied if he may not come in.
Result<User> user_of(const Claims& claims, const OidcConfig& config, const User* known);

}  // namespace hai
