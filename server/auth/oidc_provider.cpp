#include "server/auth/oidc_provider.h"

#include <openssl/sha.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/text_check.h"
#include "server/auth/base64url.h"
#include "server/auth/json_text.h"

namespace hai {

namespace {

using Json = nlohmann::json;

constexpr size_t kWordMax = 200;  // of a stranger's text in an error of ours

int number_at(const Json& object, const char* name, int otherwise, int most) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return otherwise;
  return static_cast<int>(std::clamp<int64_t>(found->get<int64_t>(), 1, most));
}

Json object_of(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_object() ? json : Json();
}

std::string short_text(std::string_view text) { return printable(text.substr(0, kWordMax)); }

std::string sha256(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

std::string base64(std::string_view bytes) {
  std::string text = to_base64url(bytes);
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  return text.append((4 - text.size() % 4) % 4, '=');
}

bool has_word(const Json& object, const char* list, const char* word) {
  const auto found = object.find(list);
  return found != object.end() && found->is_array() &&
         std::ranges::find(*found, Json(word)) != found->end();
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// What the provider says when it refuses (RFC 6749, 5.2).
Status refusal(int http_status, const Json& answer) {
  const std::string error = answer.is_object() ? text_at(answer, "error") : "";
  if (error == "authorization_pending") return unavailable("the person has not agreed yet");
  if (error == "slow_down")
    return resource_exhausted("asked too soon whether the person has agreed");
  if (error == "access_denied") return permission_denied("the sign-in was refused");
  if (error == "expired_token") return unauthenticated("the sign-in took too long: begin again");
  if (error == "invalid_grant") {
    return unauthenticated(
        "the identity provider does not know this sign-in (any more): begin again");
  }
  if (http_status >= 500) return unavailable("the identity provider answers {}", http_status);
  const std::string what = error.empty() ? std::to_string(http_status) : short_text(error);
  return failed_precondition(
      "the identity provider refuses this server ({}): an administrator compares oidc.client_id "
      "and "
      "the client's secret with what the provider has",
      what);
}

}  // namespace

OidcProvider::OidcProvider(OidcConfig config, std::string client_secret, Fetcher& fetcher, Now now)
    : config_(std::move(config)),
      client_secret_(std::move(client_secret)),
      fetcher_(fetcher),
      now_(std::move(now)) {}

Result<OidcProvider::Endpoints> OidcProvider::read_discovery(const std::string& text) const {
  const Json document = object_of(text);
  if (!document.is_object()) return unavailable("the identity provider's description is no JSON");
  if (text_at(document, "issuer") != config_.issuer) {
    return failed_precondition("oidc.issuer is {}, but the provider there calls itself {}",
                               config_.issuer, short_text(text_at(document, "issuer")));
  }
  Endpoints endpoints{.authorization = text_at(document, "authorization_endpoint"),
                      .token = text_at(document, "token_endpoint"),
                      .device = text_at(document, "device_authorization_endpoint"),
                      .keys = text_at(document, "jwks_uri"),
                      .userinfo = text_at(document, "userinfo_endpoint"),
                      .fetched = now_()};
  const char* const kMethods = "token_endpoint_auth_methods_supported";
  endpoints.takes_basic = has_word(document, kMethods, "client_secret_basic") ||
                          !has_word(document, kMethods, "client_secret_post");
  for (const auto& [name, url] :
       {std::pair("authorization_endpoint", endpoints.authorization),
        std::pair("token_endpoint", endpoints.token), std::pair("jwks_uri", endpoints.keys)}) {
    if (Status status = check_secure_url(url); !status.is_ok()) {
      return failed_precondition("the identity provider's {} {}", name,
                                 short_text(status.message()));
    }
  }
  for (std::string* optional : {&endpoints.device, &endpoints.userinfo}) {
    if (!check_secure_url(*optional).is_ok()) optional->clear();
  }
  return endpoints;
}

// A provider that is away is asked again only after a rest: each try holds up the others for
// seconds.
Status OidcProvider::discover() {
  const UnixTime now = now_();
  if (endpoints_ && now < endpoints_->fetched + kDocumentAgeMax) return ok();
  if (failed_at_ && now >= *failed_at_ && now < *failed_at_ + kRestAfterFailure) return failure_;
  const std::string slash = config_.issuer.ends_with('/') ? "" : "/";
  Result<FetchReply> reply =
      fetcher_.fetch({.url = config_.issuer + slash + ".well-known/openid-configuration"});
  Status status = reply.status();
  if (reply.is_ok() && reply.value().status != 200) {
    status = unavailable("the identity provider answers {} when asked for its description",
                         reply.value().status);
  } else if (reply.is_ok()) {
    Result<Endpoints> endpoints = read_discovery(reply.value().body);
    if (endpoints.is_ok()) endpoints_ = std::move(endpoints).value();
    status = endpoints.status();
  }
  failed_at_.reset();
  if (status.is_ok()) return status;
  failed_at_ = now_();
  failure_ = status;
  return status;
}

Status OidcProvider::load_keys() {
  keys_fetched_ = now_();
  Result<FetchReply> reply = fetcher_.fetch({.url = endpoints_->keys});
  if (!reply.is_ok()) return reply.status();
  if (reply.value().status != 200) {
    return unavailable("the identity provider answers {} when asked for its keys",
                       reply.value().status);
  }
  Result<KeySet> keys = KeySet::parse(reply.value().body);
  if (!keys.is_ok()) return keys.status();
  keys_ = std::move(keys).value();
  return ok();
}

Result<std::string> OidcProvider::authorization_url(const AuthorizationRequest& request) {
  RETURN_IF_ERROR(discover());
  const Form query = {{"response_type", "code"},
                      {"client_id", config_.client_id},
                      {"redirect_uri", request.redirect_url},
                      {"scope", joined(config_.scopes)},
                      {"state", request.state},
                      {"nonce", request.nonce},
                      {"code_challenge", to_base64url(sha256(request.verifier))},
                      {"code_challenge_method", "S256"}};
  std::string url = endpoints_->authorization;
  char separator = url.find('?') == std::string::npos ? '?' : '&';
  for (const auto& [name, value] : query) {
    url += separator + name + "=" + percent_encode(value);
    separator = '&';
  }
  return url;
}

// As the client that this server is.
Result<Json> OidcProvider::ask(const std::string& url, Form form) {
  FetchRequest request{.url = url, .form = std::move(form)};
  if (client_secret_.empty()) {
    request.form["client_id"] = config_.client_id;
  } else if (endpoints_->takes_basic) {
    request.authorization =
        "Basic " + base64(percent_encode(config_.client_id) + ":" + percent_encode(client_secret_));
  } else {
    request.form["client_id"] = config_.client_id;
    request.form["client_secret"] = client_secret_;
  }
  Result<FetchReply> reply = fetcher_.fetch(request);
  if (!reply.is_ok()) return reply.status();
  Json answer = object_of(reply.value().body);
  if (reply.value().status != 200) return refusal(reply.value().status, answer);
  if (!answer.is_object()) return unavailable("the identity provider's answer is no JSON");
  return answer;
}

// A key that is not known may be a new one: then its keys are fetched, but not for everybody who
// makes tokens up.
Result<Claims> OidcProvider::check(const std::string& token, const IdTokenRules& rules) {
  if (!keys_ || now_() >= keys_fetched_ + kDocumentAgeMax) {
    const Status loaded = load_keys();
    if (!keys_) return loaded;
    // The old ones hold until others can be had, which is tried again in a while.
    if (!loaded.is_ok()) keys_fetched_ = now_() - kDocumentAgeMax + kKeysAgeMin;
  }
  Result<Claims> claims = check_id_token(token, *keys_, rules, names());
  if (claims.is_ok() || claims.status().code() != Code::not_found) return claims;
  if (!keys_missed_ || now_() >= *keys_missed_ + kKeysAgeMin) {
    keys_missed_ = now_();
    RETURN_IF_ERROR(load_keys());
    claims = check_id_token(token, *keys_, rules, names());
  }
  if (claims.is_ok() || claims.status().code() != Code::not_found) return claims;
  return unauthenticated("{}; the provider's are asked for once a minute at most",
                         claims.status().message());
}

// Many providers tell the ID token little and this endpoint the rest.
Status OidcProvider::add_userinfo(const std::string& access_token, Claims& claims) {
  Result<FetchReply> reply =
      fetcher_.fetch({.url = endpoints_->userinfo, .authorization = "Bearer " + access_token});
  if (!reply.is_ok()) return reply.status();
  const Json object = object_of(reply.value().body);
  if (reply.value().status != 200 || !object.is_object()) {
    return unavailable("the identity provider answers {} when asked who signed in",
                       reply.value().status);
  }
  const Result<Claims> more = read_claims(object, names());
  if (!more.is_ok()) return more.status();
  if (more.value().subject != claims.subject) {
    return unauthenticated("the identity provider answers for somebody else than the ID token");
  }
  if (claims.user.empty()) claims.user = more.value().user;
  if (!claims.groups) claims.groups = more.value().groups;
  return ok();
}

Result<Claims> OidcProvider::claims_of(const Json& tokens, std::optional<std::string> nonce) {
  const std::string id_token = text_at(tokens, "id_token");
  if (id_token.empty()) {
    return failed_precondition(
        "the identity provider gave no ID token: is openid among oidc.scopes?");
  }
  Result<Claims> claims = check(id_token, {.issuer = config_.issuer,
                                           .client_id = config_.client_id,
                                           .nonce = std::move(nonce),
                                           .now = now_()});
  if (!claims.is_ok()) return claims;
  const std::string access_token = text_at(tokens, "access_token");
  const bool has_groups = claims.value().groups || config_.groups_claim.empty();
  const bool is_whole = !claims.value().user.empty() && has_groups;
  if (!is_whole && !endpoints_->userinfo.empty() && !access_token.empty()) {
    RETURN_IF_ERROR(add_userinfo(access_token, claims.value()));
  }
  if (claims.value().user.empty()) {
    return failed_precondition(
        "the identity provider does not tell the claim {} of who signed in: an administrator sets "
        "oidc.user_claim, or asks for its scope (oidc.scopes)",
        config_.user_claim);
  }
  return claims;
}

Result<Claims> OidcProvider::exchange(const CodeExchange& exchange) {
  RETURN_IF_ERROR(discover());
  Result<Json> tokens = ask(endpoints_->token, {{"grant_type", "authorization_code"},
                                                {"code", exchange.code},
                                                {"redirect_uri", exchange.redirect_url},
                                                {"code_verifier", exchange.verifier}});
  if (!tokens.is_ok()) return tokens.status();
  return claims_of(tokens.value(), exchange.nonce);
}

Result<DeviceGrant> OidcProvider::begin_device() {
  constexpr int kIntervalMax = 60;
  constexpr int kSecondsMax = 3'600;
  RETURN_IF_ERROR(discover());
  if (endpoints_->device.empty()) {
    return failed_precondition(
        "the identity provider has no device flow: sign in with the dashboard and make a token");
  }
  Result<Json> answer = ask(endpoints_->device,
                            {{"scope", joined(config_.scopes)}, {"client_id", config_.client_id}});
  if (!answer.is_ok()) return answer.status();
  const Json& json = answer.value();
  // With the code in it there is nothing to type; whoever sees it compares the code.
  const std::string whole = text_at(json, "verification_uri_complete");
  DeviceGrant grant{
      .device_code = text_at(json, "device_code"),
      .user_code = text_at(json, "user_code"),
      .verification_uri = whole.empty() ? text_at(json, "verification_uri") : whole,
      .interval_seconds = number_at(json, "interval", 5, kIntervalMax),
      .ends = now_() + std::chrono::seconds(number_at(json, "expires_in", 300, kSecondsMax))};
  if (grant.device_code.empty() || grant.user_code.empty() ||
      !check_secure_url(grant.verification_uri).is_ok()) {
    return unavailable("the identity provider's answer to a device lacks a code or an address");
  }
  return grant;
}

Result<Claims> OidcProvider::finish_device(const std::string& device_code) {
  RETURN_IF_ERROR(discover());
  Result<Json> tokens =
      ask(endpoints_->token, {{"grant_type", "urn:ietf:params:oauth:grant-type:device_code"},
                              {"device_code", device_code}});
  if (!tokens.is_ok()) return tokens.status();
  return claims_of(tokens.value(), std::nullopt);
}

}  // namespace hai
