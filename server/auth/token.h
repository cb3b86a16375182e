#pragma once
// Bearer tokens: 256 random bits behind a prefix that secret scanners can find. The server keeps
// only the SHA-256 of a token; a hash is enough against guessing, since the secret is not a
// password but random.

#include <string>
#include <string_view>

namespace hai {

// A fresh secret: "hai_" and 64 hex digits.
std::string make_token_secret();

// SHA-256 as 64 lower-case hex digits: what is stored and looked up.
std::string hash_token(std::string_view secret);

// Names a token without giving it away: the first 12 digits of its hash.
std::string token_id(std::string_view hash);

// What a page that was given the session of this secret in a cookie says with each change, as a
// sign that the change comes from it: other pages make browsers send the cookie, but cannot know
// this.
std::string csrf_of(std::string_view secret);

// Takes as long for a near miss as for a far one.
bool equal_secrets(std::string_view a, std::string_view b);

// The token of an `Authorization: Bearer TOKEN` value; "" if it is none.
std::string_view bearer_token(std::string_view authorization);

}  // namespace hai
