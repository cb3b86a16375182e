#include "server/auth/id_token.h"

#include <gtest/gtest.h>

#include "tests/unit/auth/signing_key.h"

namespace hai {
namespace {

using Json = nlohmann::json;

constexpr int64_t kNow = 1'800'000'000;  // seconds

class IdToken : public ::testing::Test {
 protected:
  IdToken() {
    rules_ = {.issuer = "https://id.example",
              .client_id = "hai",
              .nonce = "n-1",
              .now = unix_micros(kNow * 1'000'000)};
    claims_ = {{"iss", "https://id.example"},
               {"aud", "hai"},
               {"sub", "42"},
               {"exp", kNow + 300},
               {"iat", kNow},
               {"nonce", "n-1"},
               {"preferred_username", "ann"},
               {"groups", {"physics", "ml"}}};
  }
  Result<Claims> check(const std::string& token) {
    return check_id_token(token, keys_, rules_, ClaimNames{});
  }
  // Of a token that is well signed but says this of one claim.
  Status with(const char* name, const Json& value) {
    Json claims = claims_;
    claims[name] = value;
    return check(key_.token(claims)).status();
  }
  Status without(const char* name) {
    Json claims = claims_;
    claims.erase(name);
    return check(key_.token(claims)).status();
  }

  // One for all: to make them takes longer than all else.
  static const SigningKey& test_key() {
    static const SigningKey key = SigningKey::rsa("key-1");
    return key;
  }

  const SigningKey& key_ = test_key();
  KeySet keys_ = KeySet::parse(key_set_text({key_.published()})).value();
  IdTokenRules rules_;
  Json claims_;
};

#define EXPECT_REFUSED(status, words)                                                 \
  {                                                                                   \
    const Status refused = (status);                                                  \
    EXPECT_EQ(refused.code(), Code::unauthenticated) << refused.message();            \
    EXPECT_NE(refused.message().find(words), std::string::npos) << refused.message(); \
  }

TEST_F(IdToken, OfEachAlgorithmSaysWhoItIs) {
  for (const SigningKey& key : {SigningKey::rsa("a"), SigningKey::ec("b"), SigningKey::ed("c")}) {
    keys_ = KeySet::parse(key_set_text({key.published()})).value();
    const Result<Claims> claims = check(key.token(claims_));
    ASSERT_TRUE(claims.is_ok()) << key.id() << claims.status().message();
    EXPECT_EQ(claims.value().subject, "42");
    EXPECT_EQ(claims.value().user, "ann");
    EXPECT_EQ(claims.value().groups, (std::vector<std::string>{"physics", "ml"}));
  }
}

TEST_F(IdToken, WithoutASignatureIsNone) {
  for (const char* word : {"none", "None", "NONE", ""}) {
    const Json header = {{"alg", word}, {"kid", "key-1"}};
    const std::string text = to_base64url(header.dump()) + "." + to_base64url(claims_.dump());
    EXPECT_REFUSED(check(text + ".").status(), "not signed with");
    EXPECT_REFUSED(check(key_.token(header, claims_)).status(), "not signed with");
  }
  EXPECT_REFUSED(check(to_base64url("{}") + "." + to_base64url(claims_.dump()) + ".").status(),
                 "not signed with");
}

// The oldest trick: the public key, which everybody has, as the secret of an HMAC.
TEST_F(IdToken, SignedWithThePublicKeyAsSecretIsRefused) {
  const Json header = {{"alg", "HS256"}, {"kid", "key-1"}};
  const std::string text = to_base64url(header.dump()) + "." + to_base64url(claims_.dump());
  for (const std::string& secret :
       {key_.published().dump(), key_.published()["n"].get<std::string>()}) {
    unsigned char mac[32];
    unsigned int size = sizeof mac;
    HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, &size);
    const std::string token =
        text + "." + to_base64url(std::string(reinterpret_cast<char*>(mac), size));
    EXPECT_REFUSED(check(token).status(), "not signed with");
  }
}

TEST_F(IdToken, OfAnotherAlgorithmThanTheKeysIsRefused) {
  Json header = key_.header();
  for (const char* algorithm : {"ES256", "EdDSA"}) {
    header["alg"] = algorithm;
    EXPECT_REFUSED(check(key_.token(header, claims_)).status(), "algorithm");
  }
  for (const char* algorithm : {"RS384", "PS256", "RS256 ", "rs256"}) {
    header["alg"] = algorithm;
    EXPECT_REFUSED(check(key_.token(header, claims_)).status(), "not signed with");
  }
}

TEST_F(IdToken, OfAnUnknownKeyIsWorthALook) {
  EXPECT_EQ(check(SigningKey::rsa("key-2").token(claims_)).status().code(), Code::not_found);
}

TEST_F(IdToken, OfAnotherKeyUnderAKnownIdIsRefused) {
  EXPECT_REFUSED(check(SigningKey::rsa("key-1").token(claims_)).status(), "signature");
}

TEST_F(IdToken, WithoutAKeyIdNeedsOneKeyThatFits) {
  Json header = key_.header();
  header.erase("kid");
  EXPECT_TRUE(check(key_.token(header, claims_)).is_ok());
  keys_ = KeySet::parse(key_set_text({key_.published(), SigningKey::rsa("b").published()})).value();
  EXPECT_REFUSED(check(key_.token(header, claims_)).status(), "several keys");
}

TEST_F(IdToken, ThatWasChangedIsRefused) {
  const std::string token = key_.token(claims_);
  for (size_t at = token.find('.') + 1; at < token.size(); at += 7) {
    std::string changed = token;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    if (changed == token || token[at] == '.') continue;
    EXPECT_EQ(check(changed).status().code(), Code::unauthenticated) << at;
  }
  Json other = claims_;
  other["preferred_username"] = "admin";
  const std::string payload = to_base64url(other.dump());
  const size_t first = token.find('.');
  EXPECT_REFUSED(
      check(token.substr(0, first + 1) + payload + token.substr(token.rfind('.'))).status(),
      "signature");
}

TEST_F(IdToken, OfAnotherIssuerIsRefused) {
  EXPECT_REFUSED(with("iss", "https://id.example/"), "issuer");
  EXPECT_REFUSED(with("iss", 1), "issuer");
  EXPECT_REFUSED(without("iss"), "issuer");
}

TEST_F(IdToken, ForAnotherClientIsRefused) {
  EXPECT_REFUSED(with("aud", "mail"), "another client");
  EXPECT_REFUSED(with("aud", Json::array({"mail", "wiki"})), "another client");
  EXPECT_REFUSED(with("aud", Json::array({"hai", 1})), "cannot be read");
  EXPECT_REFUSED(with("aud", Json::array()), "another client");
  EXPECT_REFUSED(without("aud"), "another client");
  EXPECT_REFUSED(with("azp", "mail"), "given to another client");
  EXPECT_TRUE(with("azp", "hai").is_ok());
}

TEST_F(IdToken, ForSeveralClientsSaysToWhomItWent) {
  claims_["aud"] = {"hai", "mail"};
  EXPECT_REFUSED(check(key_.token(claims_)).status(), "several clients");
  EXPECT_TRUE(with("azp", "hai").is_ok());
}

TEST_F(IdToken, ThatHasEndedIsRefused) {
  EXPECT_TRUE(with("exp", kNow - 59).is_ok());  // clocks differ
  EXPECT_REFUSED(with("exp", kNow - 60), "has ended");
  EXPECT_REFUSED(with("exp", 0), "has ended");
  EXPECT_REFUSED(with("exp", "2099"), "when it ends");
  EXPECT_REFUSED(with("exp", -1), "when it ends");
  EXPECT_REFUSED(with("exp", 1e300), "when it ends");
  EXPECT_REFUSED(without("exp"), "when it ends");
}

TEST_F(IdToken, IsNeitherOfTheFutureNorOld) {
  EXPECT_TRUE(with("iat", kNow + 60).is_ok());
  EXPECT_REFUSED(with("iat", kNow + 61), "future");
  EXPECT_REFUSED(with("iat", kNow - 3'601), "too old");
  EXPECT_REFUSED(without("iat"), "when it was made");
  EXPECT_TRUE(with("nbf", kNow).is_ok());
  EXPECT_REFUSED(with("nbf", kNow + 61), "not in force");
  EXPECT_REFUSED(with("nbf", "soon"), "not in force");
}

TEST_F(IdToken, OfAnotherSignInIsRefused) {
  EXPECT_REFUSED(with("nonce", "n-2"), "another sign-in");
  EXPECT_REFUSED(without("nonce"), "another sign-in");
  rules_.nonce.reset();  // the device flow has none
  EXPECT_TRUE(without("nonce").is_ok());
}

TEST_F(IdToken, SaysWhoItIs) {
  EXPECT_REFUSED(without("sub"), "sub");
  EXPECT_REFUSED(with("sub", std::string(256, 'x')), "sub");
  EXPECT_REFUSED(with("groups", Json::object()), "no list");
  Json claims = claims_;
  claims.erase("groups");
  claims.erase("preferred_username");
  const Result<Claims> bare = check(key_.token(claims));
  ASSERT_TRUE(bare.is_ok());
  EXPECT_EQ(bare.value().user, "");
  EXPECT_EQ(bare.value().groups, std::nullopt);
  claims["groups"] = "physics";
  EXPECT_EQ(check(key_.token(claims)).value().groups, (std::vector<std::string>{"physics"}));
}

TEST_F(IdToken, AnAddressMustBeVerified) {
  claims_["email"] = "ann@x.example";
  const ClaimNames names{.user = "email"};
  claims_.erase("email_verified");
  EXPECT_EQ(check_id_token(key_.token(claims_), keys_, rules_, names).status().code(),
            Code::permission_denied);
  claims_["email_verified"] = false;
  EXPECT_EQ(check_id_token(key_.token(claims_), keys_, rules_, names).status().code(),
            Code::permission_denied);
  claims_["email_verified"] = true;
  EXPECT_EQ(check_id_token(key_.token(claims_), keys_, rules_, names).value().user,
            "ann@x.example");
}

TEST_F(IdToken, OtherKindsOfTokensAreNone) {
  Json header = key_.header();
  header["typ"] = "at+jwt";  // of access
  EXPECT_REFUSED(check(key_.token(header, claims_)).status(), "no ID token");
  header = key_.header();
  header["crit"] = {"exp"};
  EXPECT_REFUSED(check(key_.token(header, claims_)).status(), "extension");
}

TEST_F(IdToken, WhatIsNoTokenIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("a.b"), std::string("a.b.c.d"),
        std::string("..."), std::string(".."), std::string(kIdTokenBytesMax + 1, 'a'),
        std::string(kIdTokenBytesMax, '.'), to_base64url("[]") + ".e30.e30",
        key_.token(claims_) + "=", std::string("\0.\0.\0", 5)}) {
    EXPECT_EQ(check(text).status().code(), Code::unauthenticated) << text.substr(0, 50);
  }
}

}  // namespace
}  // namespace hai
