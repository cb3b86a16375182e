#pragma once
// The other side of OpenID Connect as one who waits sees it: where its endpoints are, its keys, the
// exchange of codes for ID tokens, and the device flow (RFC 8628). For one thread at a time, which
// may block; oidc_sign_in.h of the API has that thread.

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "server/auth/fetch.h"
#include "server/auth/id_token.h"
#include "server/auth/oidc_config.h"

namespace hai {

// Where the browser is sent, and what must come back with it.
struct AuthorizationRequest {
  std::string redirect_url;
  std::string state;
  std::string nonce;
  std::string verifier;  // of PKCE (RFC 7636); its hash is sent
};
struct CodeExchange {
  std::string code;
  std::string redirect_url;
  std::string nonce;
  std::string verifier;
};
struct DeviceGrant {
  std::string device_code;  // the provider's: whoever has it gets the person's token
  std::string user_code;
  std::string verification_uri;
  int interval_seconds = 5;
  UnixTime ends{};
};

class OidcProvider {
 public:
  using Now = std::function<UnixTime()>;
  // How long its documents are believed, and how soon they are fetched anew when a key is missing.
  static constexpr Duration kDocumentAgeMax = 1h;
  static constexpr Duration kKeysAgeMin = 1min;
  static constexpr Duration kRestAfterFailure = 5s;

  // `fetcher` outlives this. `client_secret`: "" = a public client.
  OidcProvider(OidcConfig config, std::string client_secret, Fetcher& fetcher, Now now);

  Result<std::string> authorization_url(const AuthorizationRequest& request);
  Result<Claims> exchange(const CodeExchange& exchange);
  Result<DeviceGrant> begin_device();
  // Unavailable until the person has agreed; resource_exhausted if it was asked too soon.
  Result<Claims> finish_device(const std::string& device_code);

 private:
  struct Endpoints {
    std::string authorization, token, device, keys, userinfo;
    bool takes_basic = true;
    UnixTime fetched{};
  };
  using Form = std::map<std::string, std::string>;

  Status discover();
  Result<Endpoints> read_discovery(const std::string& text) const;
  Status load_keys();
  Result<nlohmann::json> ask(const std::string& url, Form form);
  Result<Claims> claims_of(const nlohmann::json& tokens, std::optional<std::string> nonce);
  Result<Claims> check(const std::string& token, const IdTokenRules& rules);
  Status add_userinfo(const std::string& access_token, Claims& claims);
  ClaimNames names() const { return {config_.user_claim, config_.groups_claim}; }

  const OidcConfig config_;
  const std::string client_secret_;
  Fetcher& fetcher_;
  const Now now_;
  std::optional<Endpoints> endpoints_;
  std::optional<KeySet> keys_;
  UnixTime keys_fetched_{};                // or tried
  std::optional<UnixTime> keys_missed_{};  // fetched since one was not among them
  std::optional<UnixTime> failed_at_;
  Status failure_;
};

}  // namespace hai
