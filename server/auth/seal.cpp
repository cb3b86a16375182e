#include "server/auth/seal.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <memory>

#include "common/check.h"
#include "common/config/token_file.h"
#include "server/auth/base64url.h"

namespace hai {

namespace {

constexpr char kVersion = 1;
constexpr size_t kIdBytes = 4;
constexpr size_t kKeyBytes = 32;
constexpr size_t kNonceBytes = 12;
constexpr size_t kTagBytes = 16;
constexpr size_t kHeadBytes = 1 + kIdBytes;

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// What fails here is a broken library or no memory; there is no safe way on.
std::string derive(std::string_view master, std::string label, size_t size) {
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(
      EVP_KDF_fetch(nullptr, "HKDF", nullptr), EVP_KDF_free);
  CHECK(kdf != nullptr);
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(
      EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
  CHECK(context != nullptr);
  std::string digest = "SHA256";
  std::string key(master);
  const std::array<OSSL_PARAM, 4> settings = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key.data(), key.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, label.data(), label.size()),
      OSSL_PARAM_construct_end()};
  std::string derived(size, '\0');
  CHECK(EVP_KDF_derive(context.get(), bytes_of(derived), derived.size(), settings.data()) == 1);
  wipe(key);
  return derived;
}

Status not_as_sealed() { return invalid_argument("it is not as it was sealed, or not for this"); }

}  // namespace

void wipe(std::string& text) {
  OPENSSL_cleanse(text.data(), text.size());
  text.clear();
}

Result<Sealer> Sealer::make(std::string_view purpose, const std::vector<std::string>& masters) {
  Sealer sealer;
  for (const std::string& master : masters) {
    if (master.size() < kMasterBytesMin) {
      return invalid_argument("a key has {} bytes, at least {} are needed", master.size(),
                              kMasterBytesMin);
    }
    const std::string label = "hai " + std::string(purpose);
    sealer.keys_.push_back({.id = derive(master, label + " id", kIdBytes),
                            .bytes = derive(master, label + " key", kKeyBytes)});
  }
  if (sealer.keys_.empty()) return invalid_argument("there is no key");
  return sealer;
}

Sealer::~Sealer() {
  for (Key& key : keys_) wipe(key.bytes);
}

std::string Sealer::seal(std::string_view bound_to, std::string_view text) const {
  const Key& key = keys_.front();
  std::string nonce(kNonceBytes, '\0');
  CHECK(RAND_bytes(bytes_of(nonce), static_cast<int>(nonce.size())) == 1);
  const std::string head = kVersion + key.id;
  std::string sealed(text.size(), '\0');
  std::string tag(kTagBytes, '\0');
  const Cipher cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  CHECK(cipher != nullptr);
  EVP_CIPHER_CTX* context = cipher.get();
  int size = 0;
  CHECK(EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nullptr, bytes_of(key.bytes),
                           bytes_of(nonce)) == 1);
  for (const std::string_view known : {std::string_view(head), bound_to}) {
    CHECK(EVP_EncryptUpdate(context, nullptr, &size, bytes_of(known),
                            static_cast<int>(known.size())) == 1);
  }
  CHECK(EVP_EncryptUpdate(context, bytes_of(sealed), &size, bytes_of(text),
                          static_cast<int>(text.size())) == 1);
  CHECK(EVP_EncryptFinal_ex(context, bytes_of(tag), &size) == 1);
  CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()) == 1);
  return to_base64url(head + nonce + sealed + tag);
}

Result<std::string> Sealer::open(std::string_view bound_to, std::string_view sealed) const {
  const std::string bytes = from_base64url(sealed).value_or("");
  if (bytes.size() < kHeadBytes + kNonceBytes + kTagBytes || bytes.front() != kVersion) {
    return not_as_sealed();
  }
  const std::string_view whole = bytes;
  const std::string_view head = whole.substr(0, kHeadBytes);
  const auto key = std::ranges::find(keys_, head.substr(1), &Key::id);
  if (key == keys_.end()) return failed_precondition("the key it was sealed with is not here");
  const std::string_view nonce = whole.substr(kHeadBytes, kNonceBytes);
  const std::string_view body =
      whole.substr(kHeadBytes + kNonceBytes, whole.size() - kHeadBytes - kNonceBytes - kTagBytes);
  std::string tag(whole.substr(whole.size() - kTagBytes));
  std::string text(body.size(), '\0');
  const Cipher cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  CHECK(cipher != nullptr);
  EVP_CIPHER_CTX* context = cipher.get();
  int size = 0;
  CHECK(EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nullptr, bytes_of(key->bytes),
                           bytes_of(nonce)) == 1);
  for (const std::string_view known : {head, bound_to}) {
    CHECK(EVP_DecryptUpdate(context, nullptr, &size, bytes_of(known),
                            static_cast<int>(known.size())) == 1);
  }
  CHECK(EVP_DecryptUpdate(context, bytes_of(text), &size, bytes_of(body),
                          static_cast<int>(body.size())) == 1);
  CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1);
  std::array<unsigned char, kTagBytes> rest{};
  if (EVP_DecryptFinal_ex(context, rest.data(), &size) != 1) {
    wipe(text);
    return not_as_sealed();
  }
  return text;
}

Result<Sealer> read_sealer(std::string_view purpose, const std::string& file,
                           const std::vector<std::string>& old_files) {
  std::vector<std::string> masters;
  Status status = ok();
  std::vector<std::string> files = {file};
  files.insert(files.end(), old_files.begin(), old_files.end());
  for (const std::string& each : files) {
    Result<std::string> master = read_key_file(each);
    status = master.status();
    if (!status.is_ok()) break;
    masters.push_back(std::move(master).value());
  }
  Result<Sealer> sealer = status.is_ok() ? Sealer::make(purpose, masters) : Result<Sealer>(status);
  for (std::string& master : masters) wipe(master);
  return sealer;
}

}  // namespace hai
