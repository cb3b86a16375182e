#include "cli/slurm/step/frame_mac.h"

#include <fmt/core.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "common/check.h"

namespace hai::cli::slurm {

std::string mac_of(std::string_view key, std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest,
             &length) != nullptr);
  CHECK(length == kMacBytes);
  return {reinterpret_cast<const char*>(digest), length};
}

bool is_same_mac(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string FrameMac::next(std::string_view frame) {
  std::string text = fmt::format("{} {} ", sender_, count_++);
  text += frame;
  return mac_of(key_, text);
}

}  // namespace hai::cli::slurm
