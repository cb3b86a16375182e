#pragma once
// Which user of hai somebody is who has signed in at the identity provider.

#include "server/auth/id_token.h"
#include "server/auth/oidc_config.h"
#include "server/model/user.h"

namespace hai {

// permission_denied if he is called what no user here can be called.
Status check_user_name(const Claims& claims, const OidcConfig& config);

// The account as it should be from now on. `user`: as it is; of somebody new only the name.
//
// Groups become the user's groups, those that hai can name and 64 of them at most; without the
// claim they stay. A role that a list of groups is given for (oidc.admin_groups, operator_groups)
// is had by who is in one of them and by nobody else; a role without such a list stays as an
// administrator of hai set it.
User account_of(const Claims& claims, const OidcConfig& config, User user);

}  // namespace hai
