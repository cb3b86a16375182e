#include "server/auth/id_token.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "server/auth/base64url.h"
#include "server/auth/json_text.h"
#include "server/auth/token.h"

namespace hai {

namespace {

using Json = nlohmann::json;

struct Parts {
  std::string_view header, payload, signature;
  std::string_view signed_text;  // header.payload
};

std::optional<Parts> split(std::string_view token) {
  const size_t first = token.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const Parts parts{.header = token.substr(0, first),
                    .payload = token.substr(first + 1, second - first - 1),
                    .signature = token.substr(second + 1),
                    .signed_text = token.substr(0, second)};
  if (parts.signature.find('.') != std::string_view::npos) return std::nullopt;
  return parts;
}

Json object_in(std::string_view base64) {
  const std::optional<std::string> text = from_base64url(base64);
  Json json = text ? Json::parse(*text, nullptr, false) : Json();
  return json.is_object() ? json : Json();
}

// Seconds since 1970, as tokens have times.
std::optional<UnixTime> time_at(const Json& object, const char* name) {
  constexpr double kSecondsMax = 1e11;
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double seconds = found->get<double>();
  if (!(seconds >= 0 && seconds <= kSecondsMax)) return std::nullopt;
  return unix_micros(static_cast<int64_t>(seconds) * 1'000'000);
}

Status check_header(const Json& header) {
  if (!header.is_object()) return unauthenticated("the ID token is none: its header is no JSON");
  // Whoever does not know what a critical extension means must not go on.
  if (header.contains("crit")) return unauthenticated("the ID token wants an unknown extension");
  std::string type = text_at(header, "typ");
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!type.empty() && type != "jwt") return unauthenticated("the token is no ID token");
  return ok();
}

Status check_audience(const Json& claims, const std::string& client_id) {
  const auto found = claims.find("aud");
  std::vector<std::string> audience;
  if (found != claims.end() && found->is_string()) {
    audience.push_back(found->get<std::string>());
  } else if (found != claims.end() && found->is_array()) {
    for (const Json& each : *found) {
      if (!each.is_string()) return unauthenticated("the ID token's aud cannot be read");
      audience.push_back(each.get<std::string>());
    }
  }
  if (std::ranges::find(audience, client_id) == audience.end()) {
    return unauthenticated("the ID token was made for another client");
  }
  const bool has_party = claims.contains("azp");
  if (has_party && text_at(claims, "azp") != client_id) {
    return unauthenticated("the ID token was given to another client");
  }
  if (audience.size() > 1 && !has_party) {
    return unauthenticated("the ID token is for several clients and does not say to whom it went");
  }
  return ok();
}

Status check_times(const Json& claims, UnixTime now) {
  const std::optional<UnixTime> ends = time_at(claims, "exp");
  if (!ends) return unauthenticated("the ID token does not say when it ends");
  if (now >= *ends + kClockSkewMax) return unauthenticated("the ID token has ended");
  const std::optional<UnixTime> made = time_at(claims, "iat");
  if (!made) return unauthenticated("the ID token does not say when it was made");
  if (*made > now + kClockSkewMax) {
    return unauthenticated("the ID token was made in the future: compare the clocks");
  }
  if (*made + kIdTokenAgeMax < now) {
    return unauthenticated("the ID token is too old: sign in again, and compare the clocks");
  }
  if (!claims.contains("nbf")) return ok();
  const std::optional<UnixTime> begins = time_at(claims, "nbf");
  if (!begins || *begins > now + kClockSkewMax) {
    return unauthenticated("the ID token is not in force yet");
  }
  return ok();
}

Status check_claims(const Json& claims, const IdTokenRules& rules) {
  if (!claims.is_object()) return unauthenticated("the ID token is none: it holds no JSON");
  if (text_at(claims, "iss") != rules.issuer) {
    return unauthenticated("the ID token is of another issuer");
  }
  RETURN_IF_ERROR(check_audience(claims, rules.client_id));
  RETURN_IF_ERROR(check_times(claims, rules.now));
  if (rules.nonce && !equal_secrets(text_at(claims, "nonce"), *rules.nonce)) {
    return unauthenticated("the ID token belongs to another sign-in");
  }
  return ok();
}

}  // namespace

Result<Claims> read_claims(const Json& object, const ClaimNames& names) {
  constexpr size_t kSubjectMax = 255;
  Claims claims{
      .subject = text_at(object, "sub"), .user = text_at(object, names.user), .groups = {}};
  if (claims.subject.empty() || claims.subject.size() > kSubjectMax) {
    return unauthenticated("the identity provider does not say who signed in (sub)");
  }
  // An address that nobody has looked at may be somebody else's.
  const auto verified = object.find("email_verified");
  if (names.user == "email" && (verified == object.end() || *verified != true)) {
    return permission_denied("the identity provider has not verified the address {}", claims.user);
  }
  const auto groups = object.find(names.groups);
  if (names.groups.empty() || groups == object.end() || groups->is_null()) return claims;
  claims.groups.emplace();
  if (groups->is_string()) {
    claims.groups->push_back(groups->get<std::string>());
  } else if (groups->is_array()) {
    for (const Json& each : *groups) {
      if (each.is_string()) claims.groups->push_back(each.get<std::string>());
    }
  } else {
    return unauthenticated("the claim {} is no list of texts", names.groups);
  }
  return claims;
}

Result<Claims> check_id_token(std::string_view token, const KeySet& keys, const IdTokenRules& rules,
                              const ClaimNames& names) {
  const std::optional<Parts> parts = token.size() <= kIdTokenBytesMax ? split(token) : std::nullopt;
  if (!parts) return unauthenticated("the ID token is none: not three parts, or too long");
  const Json header = object_in(parts->header);
  RETURN_IF_ERROR(check_header(header));
  const std::optional<std::string> signature = from_base64url(parts->signature);
  if (!signature) return unauthenticated("the ID token's signature cannot be read");
  const std::string key_id = text_at(header, "kid");
  const std::string algorithm = text_at(header, "alg");
  RETURN_IF_ERROR(keys.verify({.key_id = key_id,
                               .algorithm = algorithm,
                               .text = parts->signed_text,
                               .signature = *signature}));
  const Json claims = object_in(parts->payload);
  RETURN_IF_ERROR(check_claims(claims, rules));
  return read_claims(claims, names);
}

}  // namespace hai
