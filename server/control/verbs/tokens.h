#pragma once
// Whether a token holds and what it lets its user be: for the state's own judgement (access.cpp),
// and for those who keep a copy of its tokens.

#include <string>
#include <string_view>

#include "server/control/verbs/decide.h"

namespace hai {

// How long a token is kept after its end, so that people see why theirs does not work.
inline constexpr Duration kOverTokensKept = 24h;

// What the label of a session begins with whose user signed in with a token; that token's id (the
// first digits of its hash) follows. Whoever revokes the token ends the session.
inline constexpr std::string_view kSignedInWith = "signed in with token ";

// Whether the token holds now; nullptr is one that nobody knows. unauthenticated says why not.
// `used` may be a later use than the state knows of.
Status check_token(const Token* token, UnixTime now, UnixTime used = {});
// `name` with the rights of the user, as far as the scope lets him have them; nullptr is nobody.
Result<Actor> actor_of(const std::string& name, const User* user, TokenScope scope);

// The identity with no certificate believed from now on. Whoever issued the latest one, or revoked
// one before, may have had a clock ahead of this one: no certificate may begin after its
// revocation.
NodeIdentity revoked(NodeIdentity identity, UnixTime now);

}  // namespace hai
