#include "common/tls/peer_keys.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

namespace hai {

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &size);
  return {reinterpret_cast<const char*>(mac.data()), size};
}

// Extract, and one block of expand.
std::string peer_secret_of(std::string_view authority_key) {
  const std::string extracted = hmac_sha256("hai", authority_key);
  return hmac_sha256(extracted, std::string("hai peer keys 1") + '\x01');
}

std::string peer_key_of_node(std::string_view secret, std::string_view node) {
  return hmac_sha256(secret, node);
}

std::string peer_key_of_pair(std::string_view own_key, std::string_view asker) {
  return hmac_sha256(own_key, asker);
}

}  // namespace hai
