#include "server/auth/token.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <array>

#include "common/ascii.h"
#include "common/check.h"
#include "common/hex.h"

namespace hai {

namespace {

constexpr std::string_view kPrefix = "hai_";
constexpr std::string_view kScheme = "bearer ";
constexpr size_t kIdDigits = 12;
using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

std::string digits_of(const Digest& bytes) {
  return to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Digest digest_of(std::string_view text) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

}  // namespace

std::string make_token_secret() {
  Digest bytes;
  // Without random numbers there is no safe way on.
  CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  return std::string(kPrefix) + digits_of(bytes);
}

std::string hash_token(std::string_view secret) { return digits_of(digest_of(secret)); }

std::string token_id(std::string_view hash) { return std::string(hash.substr(0, kIdDigits)); }

std::string csrf_of(std::string_view secret) { return hash_token("csrf" + std::string(secret)); }

// Comparing digests hides the lengths too.
bool equal_secrets(std::string_view a, std::string_view b) {
  const Digest left = digest_of(a);
  const Digest right = digest_of(b);
  return CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

std::string_view bearer_token(std::string_view authorization) {
  if (authorization.size() < kScheme.size()) return {};
  for (size_t i = 0; i < kScheme.size(); ++i) {
    if (to_lower(authorization[i]) != kScheme[i]) return {};
  }
  authorization.remove_prefix(kScheme.size());
  while (authorization.starts_with(' ')) authorization.remove_prefix(1);
  while (authorization.ends_with(' ')) authorization.remove_suffix(1);
  return authorization;
}

}  // namespace hai
