#pragma once
// How a site's identity provider (OpenID Connect) is used: the section `oidc` of the server's
// config.

#include <string>
#include <vector>

namespace hai {

struct OidcConfig {
  std::string issuer;  // "" = there is none
  std::string client_id;
  std::string client_secret_file;  // "" = a public client, which PKCE alone protects
  std::vector<std::string> scopes = {"openid", "profile", "email"};
  std::string user_claim = "preferred_username";
  std::string groups_claim = "groups";
  std::vector<std::string> admin_groups;
  std::vector<std::string> operator_groups;
  bool create_users = true;
  std::string name = "single sign-on";  // on the button
  std::string ca;                       // file of whom the provider's certificate is; "" = system
  std::string redirect_url;  // as the provider has it; "" = of advertise.http, or as asked
};

}  // namespace hai
