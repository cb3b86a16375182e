#pragma once
// What an identity provider says of a person who has signed in there: a signed token of JSON
// (OpenID Connect Core 1.0, 2 and 3.1.3.7). Pure; whoever asks has the keys and the time.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "common/time.h"
#include "server/auth/key_set.h"

namespace hai {

struct IdTokenRules {
  std::string issuer;
  std::string client_id;
  std::optional<std::string> nonce;  // what the token must say; none = nothing was sent
  UnixTime now{};
};

inline constexpr size_t kIdTokenBytesMax = 64 * 1024;
inline constexpr Duration kClockSkewMax = 60s;
inline constexpr Duration kIdTokenAgeMax = 1h;

// Where a person's name and groups stand among his claims.
struct ClaimNames {
  std::string user = "preferred_username";
  std::string groups = "groups";
};

// Claims of somebody. Those that were not there are none: absent groups are no empty list.
struct Claims {
  std::string subject;
  std::string user;  // "" = the claim is not there
  std::optional<std::vector<std::string>> groups;
};

// The claims of a token that is signed by one of the keys, made for this client, by that issuer,
// now. not_found if the key is not known, which is worth a look at the provider's keys of today;
// else unauthenticated with one sentence.
Result<Claims> check_id_token(std::string_view token, const KeySet& keys, const IdTokenRules& rules,
                              const ClaimNames& names);

// From a JSON object: an ID token's, or what the provider's userinfo endpoint answers.
Result<Claims> read_claims(const nlohmann::json& object, const ClaimNames& names);

}  // namespace hai
