#include "common/tls/request.h"

#include <openssl/core_names.h>

#include <array>

#include "common/tls/request_key.h"

namespace hai {
namespace {

using Request = std::unique_ptr<X509_REQ, Free<X509_REQ_free>>;

constexpr int kRsaBitsMin = 2'048;
constexpr int kRsaBitsMax = 8'192;  // longer ones cost much to check, and are not safer

bool is_lasting_curve(EVP_PKEY* key) {
  std::array<char, 64> group{};
  size_t size = 0;
  if (EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, group.data(), group.size(),
                                     &size) != 1) {
    return false;
  }
  const std::string_view name(group.data(), size);
  return name == SN_X9_62_prime256v1 || name == SN_secp384r1;
}

Status check_key(EVP_PKEY* key) {
  const int bits = EVP_PKEY_get_bits(key);
  switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_ED25519:
      return ok();
    case EVP_PKEY_EC:
      if (is_lasting_curve(key)) return ok();
      return invalid_argument("csr: its key is on another curve than P-256 and P-384");
    case EVP_PKEY_RSA:
      if (bits >= kRsaBitsMin && bits <= kRsaBitsMax) return ok();
      return invalid_argument("csr: its RSA key has {} bits, allowed is {} to {}", bits,
                              kRsaBitsMin, kRsaBitsMax);
    default:
      return invalid_argument("csr: its key is neither of P-256, P-384, Ed25519 nor RSA");
  }
}

Result<KeyAndRequest> to_pem(EVP_PKEY* key, X509_REQ* request) {
  const openssl::Bio key_text(BIO_new(BIO_s_mem()));
  const openssl::Bio request_text(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PKCS8PrivateKey(key_text.get(), key, nullptr, nullptr, 0, nullptr, nullptr) !=
          1 ||
      PEM_write_bio_X509_REQ(request_text.get(), request) != 1) {
    return Status(Code::internal, "cannot write a request: " + openssl::last_error());
  }
  return KeyAndRequest{.key = openssl::text_of(key_text.get()),
                       .request = openssl::text_of(request_text.get())};
}

}  // namespace

Result<openssl::Key> openssl::key_of_request(const std::string& pem) {
  if (pem.size() > kRequestBytesMax) {
    return invalid_argument("csr has {} bytes, allowed is {}", pem.size(), kRequestBytesMax);
  }
  const Bio text = memory(pem);
  const Request request(PEM_read_bio_X509_REQ(text.get(), nullptr, no_password, nullptr));
  Key key(request ? X509_REQ_get_pubkey(request.get()) : nullptr);
  ERR_clear_error();
  if (!request) return invalid_argument("csr: no request for a certificate in PEM (PKCS#10)");
  if (!key) return invalid_argument("csr: it has no key that can be read");
  RETURN_IF_ERROR(check_key(key.get()));  // first: to check the signature of a huge key costs much
  const bool is_signed = X509_REQ_verify(request.get(), key.get()) == 1;
  ERR_clear_error();
  if (!is_signed) return invalid_argument("csr: it was not signed with the key that is in it");
  return key;
}

Status check_request(const std::string& pem) { return openssl::key_of_request(pem).status(); }

Result<KeyAndRequest> make_request(const std::string& node) {
  const openssl::Key key(EVP_EC_gen("P-256"));
  const Request request(X509_REQ_new());
  const auto* name = reinterpret_cast<const unsigned char*>(node.data());
  constexpr size_t kCommonNameMax = 64;  // by X.509
  const int size = static_cast<int>(std::min(node.size(), kCommonNameMax));
  const bool is_complete =
      key && request && X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1 &&
      X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(request.get()), "CN", MBSTRING_UTF8,
                                 name, size, -1, 0) == 1 &&
      X509_REQ_set_pubkey(request.get(), key.get()) == 1 &&
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) != 0;
  if (is_complete) return to_pem(key.get(), request.get());
  return Status(Code::internal, "cannot make a request: " + openssl::last_error());
}

}  // namespace hai
