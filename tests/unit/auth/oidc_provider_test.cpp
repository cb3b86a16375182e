#include "server/auth/oidc_provider.h"

#include <gtest/gtest.h>

#include "tests/unit/auth/signing_key.h"

namespace hai {
namespace {

using Json = nlohmann::json;

constexpr const char* kIssuer = "https://id.example";

// An identity provider that answers what it is told to, and notes what it was asked.
class FakeProvider final : public Fetcher {
 public:
  Result<FetchReply> fetch(const FetchRequest& request) override {
    asked.push_back(request);
    const auto found = answers.find(request.url);
    if (found == answers.end()) return unavailable("{}: no answer", request.url);
    return found->second;
  }
  int count(const std::string& url) const {
    int count = 0;
    for (const FetchRequest& request : asked) count += request.url == url ? 1 : 0;
    return count;
  }
  std::map<std::string, FetchReply> answers;
  std::vector<FetchRequest> asked;
};

class Provider : public ::testing::Test {
 protected:
  Provider() {
    publish(description());
    publish_keys({key_.published()});
    grant(key_);
  }
  static Json description() {
    return {{"issuer", kIssuer},
            {"authorization_endpoint", "https://id.example/auth"},
            {"token_endpoint", "https://id.example/token"},
            {"device_authorization_endpoint", "https://id.example/device"},
            {"userinfo_endpoint", "https://id.example/me"},
            {"jwks_uri", "https://id.example/jwks"}};
  }
  void publish(const Json& json) {
    fake_.answers["https://id.example/.well-known/openid-configuration"] = {200, json.dump()};
  }
  void publish_keys(std::initializer_list<Json> keys) {
    fake_.answers["https://id.example/jwks"] = {200, key_set_text(keys)};
  }
  Json claims() const {
    const int64_t now = to_micros(now_) / 1'000'000;
    return {{"iss", kIssuer},
            {"aud", "hai"},
            {"sub", "42"},
            {"exp", now + 300},
            {"iat", now},
            {"nonce", "n"},
            {"preferred_username", "ann"},
            {"groups", {"ml"}}};
  }
  // What the token endpoint gives.
  void grant(const SigningKey& key) { grant(key, claims()); }
  void grant(const SigningKey& key, const Json& claims) {
    const Json tokens = {{"id_token", key.token(claims)}, {"access_token", "secret-access"}};
    fake_.answers["https://id.example/token"] = {200, tokens.dump()};
  }
  Result<Claims> exchange() {
    return provider_.exchange(
        {.code = "c", .redirect_url = "https://hai/cb", .nonce = "n", .verifier = "v"});
  }

  const SigningKey key_ = SigningKey::ec("key-1");
  UnixTime now_ = unix_micros(1'800'000'000'000'000);
  FakeProvider fake_;
  OidcProvider provider_{
      {.issuer = kIssuer, .client_id = "hai"}, "", fake_, [this] { return now_; }};
};

TEST_F(Provider, IsAskedWithPkce) {
  const Result<std::string> url = provider_.authorization_url(
      {.redirect_url = "https://hai/cb?a=b",
       .state = "s",
       .nonce = "n",
       .verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"});  // of RFC 7636, appendix B
  ASSERT_TRUE(url.is_ok()) << url.status().message();
  EXPECT_EQ(url.value(),
            "https://id.example/auth?client_id=hai"
            "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
            "&code_challenge_method=S256&nonce=n&redirect_uri=https%3A%2F%2Fhai%2Fcb%3Fa%3Db"
            "&response_type=code&scope=openid%20profile%20email&state=s");
}

TEST_F(Provider, GivesAPersonForACode) {
  const Result<Claims> claims = exchange();
  ASSERT_TRUE(claims.is_ok()) << claims.status().message();
  EXPECT_EQ(claims.value().user, "ann");
  const FetchRequest& asked = fake_.asked[1];
  EXPECT_EQ(asked.url, "https://id.example/token");
  EXPECT_EQ(asked.form.at("code_verifier"), "v");
  EXPECT_EQ(asked.form.at("client_id"), "hai");
  EXPECT_EQ(asked.authorization, "");
}

TEST_F(Provider, OfAConfidentialClientWantsItsSecret) {
  OidcProvider provider({.issuer = kIssuer, .client_id = "h:i"}, "p w", fake_,
                        [this] { return now_; });
  (void)provider.begin_device();
  EXPECT_EQ(fake_.asked.back().authorization, "Basic aCUzQWk6cCUyMHc=");  // h%3Ai:p%20w
}

TEST_F(Provider, NewKeysAreFetchedOnceAMinuteAtMost) {
  ASSERT_TRUE(exchange().is_ok());
  const SigningKey second = SigningKey::ec("key-2");
  publish_keys({second.published()});
  grant(second);
  EXPECT_TRUE(exchange().is_ok());
  EXPECT_EQ(fake_.count("https://id.example/jwks"), 2);
  // The old key is gone with its set, and tokens of made-up keys cost the provider nothing.
  grant(key_);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(exchange().status().code(), Code::unauthenticated);
  EXPECT_EQ(fake_.count("https://id.example/jwks"), 2);
  const SigningKey third = SigningKey::ed("key-3");
  publish_keys({second.published(), third.published()});
  grant(third);
  EXPECT_EQ(exchange().status().code(), Code::unauthenticated);
  now_ += OidcProvider::kKeysAgeMin;
  grant(third);
  EXPECT_TRUE(exchange().is_ok());
  EXPECT_EQ(fake_.count("https://id.example/jwks"), 3);
}

TEST_F(Provider, KeysAreNotBelievedForEver) {
  ASSERT_TRUE(exchange().is_ok());
  publish_keys({SigningKey::ec("key-2").published()});
  now_ += OidcProvider::kDocumentAgeMax;
  grant(key_);
  EXPECT_EQ(exchange().status().code(), Code::unauthenticated);
  fake_.answers.erase("https://id.example/jwks");
  now_ += OidcProvider::kDocumentAgeMax;
  grant(key_);
  EXPECT_EQ(exchange().status().code(), Code::unavailable);
}

TEST_F(Provider, ThatIsAwayIsAskedAgainAfterARest) {
  fake_.answers.clear();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(exchange().status().code(), Code::unavailable);
  EXPECT_EQ(fake_.asked.size(), 1u);
  publish(description());
  now_ += OidcProvider::kRestAfterFailure;
  EXPECT_TRUE(provider_.authorization_url({}).is_ok());
}

TEST_F(Provider, IsTheOneOfTheConfigAndSpeaksTls) {
  Json other = description();
  other["issuer"] = "https://id.example.evil";
  publish(other);
  EXPECT_EQ(exchange().status().code(), Code::failed_precondition);
  for (const char* name : {"authorization_endpoint", "token_endpoint", "jwks_uri"}) {
    now_ += 1min;
    other = description();
    other[name] = "http://id.example/x";
    publish(other);
    EXPECT_EQ(exchange().status().code(), Code::failed_precondition) << name;
    other.erase(name);
    now_ += 1min;
    publish(other);
    EXPECT_EQ(exchange().status().code(), Code::failed_precondition) << name;
  }
  EXPECT_EQ(fake_.count("http://id.example/x"), 0);
}

TEST_F(Provider, IsAskedForClaimsThatTheTokenLacks) {
  Json bare = claims();
  bare.erase("groups");
  bare.erase("preferred_username");
  grant(key_, bare);
  fake_.answers["https://id.example/me"] = {
      200, R"({"sub": "42", "preferred_username": "ann", "groups": ["ml"]})"};
  const Result<Claims> whole = exchange();
  ASSERT_TRUE(whole.is_ok()) << whole.status().message();
  EXPECT_EQ(whole.value().user, "ann");
  EXPECT_EQ(whole.value().groups, (std::vector<std::string>{"ml"}));
  EXPECT_EQ(fake_.asked.back().authorization, "Bearer secret-access");
  fake_.answers["https://id.example/me"].body = R"({"sub": "43", "preferred_username": "root"})";
  EXPECT_EQ(exchange().status().code(), Code::unauthenticated);
  fake_.answers["https://id.example/me"].body = R"({"sub": "42"})";
  EXPECT_EQ(exchange().status().code(), Code::failed_precondition);
}

TEST_F(Provider, RefusalsAreToldInItsWords) {
  const auto refused = [&](int status, const char* body) {
    fake_.answers["https://id.example/token"] = {status, body};
    return provider_.finish_device("d").status();
  };
  EXPECT_EQ(refused(400, R"({"error": "authorization_pending"})").code(), Code::unavailable);
  EXPECT_EQ(refused(400, R"({"error": "slow_down"})").code(), Code::resource_exhausted);
  EXPECT_EQ(refused(400, R"({"error": "access_denied"})").code(), Code::permission_denied);
  EXPECT_EQ(refused(400, R"({"error": "expired_token"})").code(), Code::unauthenticated);
  EXPECT_EQ(refused(400, R"({"error": "invalid_grant"})").code(), Code::unauthenticated);
  EXPECT_EQ(refused(401, R"({"error": "invalid_client"})").code(), Code::failed_precondition);
  EXPECT_EQ(refused(500, "<html>").code(), Code::unavailable);
  EXPECT_EQ(refused(302, "").code(), Code::failed_precondition);  // not followed
  EXPECT_EQ(refused(200, "[]").code(), Code::unavailable);
  EXPECT_EQ(refused(200, "{}").code(), Code::failed_precondition);
}

TEST_F(Provider, BeginsTheDeviceFlow) {
  fake_.answers["https://id.example/device"] = {
      200,
      R"({"device_code": "d", "user_code": "ABCD", "verification_uri": "https://id.example/d",
          "interval": 0, "expires_in": 99999999})"};
  const Result<DeviceGrant> grant = provider_.begin_device();
  ASSERT_TRUE(grant.is_ok()) << grant.status().message();
  EXPECT_EQ(grant.value().user_code, "ABCD");
  EXPECT_EQ(grant.value().interval_seconds, 1);
  EXPECT_EQ(grant.value().ends, now_ + 1h);
  fake_.answers["https://id.example/device"].body =
      R"({"device_code": "d", "user_code": "ABCD", "verification_uri": "javascript:alert"})";
  EXPECT_EQ(provider_.begin_device().status().code(), Code::unavailable);
}

TEST(SecureUrl, IsHttpsOrHere) {
  for (const char* good : {"https://id.example", "https://id.example:8443/realms/a",
                           "http://127.0.0.1:3000", "http://localhost/x", "http://[::1]:80/"}) {
    EXPECT_TRUE(check_secure_url(good).is_ok()) << good;
  }
  for (const char* bad : {"", "id.example", "http://id.example", "ftp://127.0.0.1", "https://",
                          "https:///x", "http://127.0.0.1@evil.example/", "https://a@b/",
                          "http://localhost.evil.example", "https://a/#b", "file:///etc/passwd"}) {
    EXPECT_FALSE(check_secure_url(bad).is_ok()) << bad;
  }
}

}  // namespace
}  // namespace hai
