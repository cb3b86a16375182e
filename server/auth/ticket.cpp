#include "server/auth/ticket.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <memory>

#include "common/check.h"
#include "common/whole_number.h"
#include "server/auth/base64url.h"

namespace hai {

namespace {

constexpr size_t kKeyBytes = 32;
constexpr size_t kNonceBytes = 12;  // Random: good for 2^32 tickets of one key.
constexpr size_t kTagBytes = 16;
constexpr size_t kTicketMax = 8 * 1024;

struct Free {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, Free>;

unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string random_bytes(size_t count) {
  std::string bytes(count, '\0');
  // Without random numbers there is no safe way on.
  CHECK(RAND_bytes(bytes_of(bytes), static_cast<int>(count)) == 1);
  return bytes;
}

}  // namespace

std::string random_word() { return to_base64url(random_bytes(32)); }

TicketSeal::TicketSeal() : key_(random_bytes(kKeyBytes)) {}
TicketSeal::~TicketSeal() { OPENSSL_cleanse(key_.data(), key_.size()); }

std::string TicketSeal::seal(std::string_view purpose, std::string_view text, UnixTime ends) const {
  const std::string plain = std::to_string(to_micros(ends)) + ":" + std::string(text);
  const std::string nonce = random_bytes(kNonceBytes);
  std::string sealed(plain.size(), '\0');
  std::string tag(kTagBytes, '\0');
  int size = 0;
  const Cipher cipher(EVP_CIPHER_CTX_new());
  CHECK(cipher != nullptr);
  CHECK(EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr,
                           bytes_of(std::string_view(key_)),
                           bytes_of(std::string_view(nonce))) == 1);
  CHECK(EVP_EncryptUpdate(cipher.get(), nullptr, &size, bytes_of(purpose),
                          static_cast<int>(purpose.size())) == 1);
  CHECK(EVP_EncryptUpdate(cipher.get(), bytes_of(sealed), &size, bytes_of(std::string_view(plain)),
                          static_cast<int>(plain.size())) == 1);
  CHECK(EVP_EncryptFinal_ex(cipher.get(), bytes_of(sealed) + size, &size) == 1);
  CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, bytes_of(tag)) == 1);
  return to_base64url(nonce + tag + sealed);
}

std::optional<std::string> TicketSeal::open(std::string_view purpose, std::string_view ticket,
                                            UnixTime now) const {
  if (ticket.size() > kTicketMax) return std::nullopt;
  std::optional<std::string> bytes = from_base64url(ticket);
  if (!bytes || bytes->size() <= kNonceBytes + kTagBytes) return std::nullopt;
  const std::string nonce = bytes->substr(0, kNonceBytes);
  std::string tag = bytes->substr(kNonceBytes, kTagBytes);
  const std::string sealed = bytes->substr(kNonceBytes + kTagBytes);
  std::string plain(sealed.size(), '\0');
  int size = 0;
  const Cipher cipher(EVP_CIPHER_CTX_new());
  CHECK(cipher != nullptr);
  const bool is_good =
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(std::string_view(key_)),
                         bytes_of(std::string_view(nonce))) == 1 &&
      EVP_DecryptUpdate(cipher.get(), nullptr, &size, bytes_of(purpose),
                        static_cast<int>(purpose.size())) == 1 &&
      EVP_DecryptUpdate(cipher.get(), bytes_of(plain), &size, bytes_of(std::string_view(sealed)),
                        static_cast<int>(sealed.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, bytes_of(tag)) == 1 &&
      EVP_DecryptFinal_ex(cipher.get(), bytes_of(plain) + size, &size) == 1;
  if (!is_good) return std::nullopt;
  const size_t colon = plain.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::optional<int64_t> ends = whole_number(std::string_view(plain).substr(0, colon));
  if (!ends || unix_micros(*ends) <= now) return std::nullopt;
  return plain.substr(colon + 1);
}

}  // namespace hai
