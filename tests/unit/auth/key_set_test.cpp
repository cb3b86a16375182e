#include "server/auth/key_set.h"

#include <gtest/gtest.h>

#include "tests/unit/auth/signing_key.h"

namespace hai {
namespace {

using Json = nlohmann::json;

size_t keys_in(const Json& key) {
  const Result<KeySet> keys = KeySet::parse(key_set_text({key}));
  return keys.is_ok() ? keys.value().size() : 0;
}

TEST(Base64url, HasOneFormForBytes) {
  for (const std::string bytes : {"", "a", "ab", "abc", "\xff\xfe\xfd\xfc", "hello, world"}) {
    EXPECT_EQ(from_base64url(to_base64url(bytes)), bytes);
  }
  EXPECT_EQ(to_base64url("\xfb\xff"), "-_8");
  for (const char* bad : {"a", "YQ==", "YR", "Y Q", "-_9", "+/8", "YQ\n"}) {
    EXPECT_EQ(from_base64url(bad), std::nullopt) << bad;
  }
}

TEST(KeySet, TakesTheThreeKindsOfKeys) {
  for (const SigningKey& key : {SigningKey::rsa("a"), SigningKey::ec("b"), SigningKey::ed("c")}) {
    EXPECT_EQ(keys_in(key.published()), 1u) << key.id();
  }
}

TEST(KeySet, LeavesOutWhatSignsNothingHere) {
  EXPECT_EQ(keys_in(SigningKey::rsa("weak", 1024).published()), 0u);
  Json json = SigningKey::rsa("a").published();
  json["use"] = "enc";
  EXPECT_EQ(keys_in(json), 0u);
  json["use"] = "sig";
  json["alg"] = "RS512";
  EXPECT_EQ(keys_in(json), 0u);
  json = SigningKey::ec("b").published();
  json["crv"] = "P-384";
  EXPECT_EQ(keys_in(json), 0u);
  EXPECT_EQ(keys_in({{"kty", "oct"}, {"k", "c2VjcmV0"}, {"kid", "s"}}), 0u);
}

TEST(KeySet, APointThatIsNotOnTheCurveIsNoKey) {
  Json json = SigningKey::ec("b").published();
  std::string x = *from_base64url(json["x"].get<std::string>());
  x[5] = static_cast<char>(x[5] ^ 1);
  json["x"] = to_base64url(x);
  const Result<KeySet> keys = KeySet::parse(key_set_text({json}));
  // Half of all numbers are the x of some point, but hardly ever of this y.
  EXPECT_FALSE(keys.is_ok());
}

TEST(KeySet, WhatIsNoneIsUnavailable) {
  for (const char* text : {"", "{}", "[]", "null", R"({"keys": 1})", R"({"keys": [1, "x", null]})",
                           R"({"keys": [{"kty": "RSA", "n": "", "e": "AQAB"}]})",
                           R"({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AA"}]})"}) {
    EXPECT_EQ(KeySet::parse(text).status().code(), Code::unavailable) << text;
  }
}

TEST(KeySet, HasAMostOfKeys) {
  const Json key = SigningKey::ed("a").published();
  Json keys = Json::array();
  for (int i = 0; i < 1'000; ++i) keys.push_back(key);
  EXPECT_EQ(KeySet::parse(Json{{"keys", keys}}.dump()).value().size(), KeySet::kKeysMax);
}

}  // namespace
}  // namespace hai
