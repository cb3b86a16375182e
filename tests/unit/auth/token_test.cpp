#include "server/auth/token.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(Token, SecretsAreLongAndNeverTheSame) {
  const std::string secret = make_token_secret();
  EXPECT_EQ(secret.size(), 4u + 64u);
  EXPECT_TRUE(secret.starts_with("hai_"));
  EXPECT_NE(secret, make_token_secret());
}

TEST(Token, HashIsSha256) {
  EXPECT_EQ(hash_token("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(token_id(hash_token("abc")), "ba7816bf8f01");
}

TEST(Token, SecretsCompareWhole) {
  EXPECT_TRUE(equal_secrets("", ""));
  EXPECT_TRUE(equal_secrets("abc", "abc"));
  EXPECT_FALSE(equal_secrets("abc", "abcd"));
  EXPECT_FALSE(equal_secrets("abc", "abd"));
}

TEST(Token, BearerIsReadFromTheHeader) {
  EXPECT_EQ(bearer_token("Bearer hai_1"), "hai_1");
  EXPECT_EQ(bearer_token("bearer  hai_1 "), "hai_1");
  EXPECT_EQ(bearer_token("Basic aGFp"), "");
  EXPECT_EQ(bearer_token("Bearer"), "");
  EXPECT_EQ(bearer_token(""), "");
}

}  // namespace
}  // namespace hai
