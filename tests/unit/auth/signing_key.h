#pragma once
// The private side of an identity provider's keys, for tests: what it publishes, and tokens that it
// signs.

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "common/check.h"
#include "server/auth/base64url.h"

namespace hai {

class SigningKey {
 public:
  using Json = nlohmann::json;

  static SigningKey rsa(std::string id, unsigned bits = 2048) {
    return {std::move(id), "RS256", EVP_RSA_gen(bits)};
  }
  static SigningKey ec(std::string id) { return {std::move(id), "ES256", EVP_EC_gen("P-256")}; }
  static SigningKey ed(std::string id) {
    return {std::move(id), "EdDSA", EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")};
  }

  // As it stands in a JWKS.
  Json published() const {
    Json json = {{"kid", id_}, {"use", "sig"}, {"alg", algorithm_}};
    if (algorithm_ == "RS256") {
      json["kty"] = "RSA";
      json["n"] = number(OSSL_PKEY_PARAM_RSA_N, 0);
      json["e"] = number(OSSL_PKEY_PARAM_RSA_E, 0);
    } else if (algorithm_ == "ES256") {
      json["kty"] = "EC";
      json["crv"] = "P-256";
      json["x"] = number(OSSL_PKEY_PARAM_EC_PUB_X, 32);
      json["y"] = number(OSSL_PKEY_PARAM_EC_PUB_Y, 32);
    } else {
      size_t size = 32;
      std::string bytes(size, '\0');
      CHECK(EVP_PKEY_get_raw_public_key(key_.get(), data(bytes), &size) == 1);
      json["kty"] = "OKP";
      json["crv"] = "Ed25519";
      json["x"] = to_base64url(bytes);
    }
    return json;
  }

  Json header() const { return {{"alg", algorithm_}, {"kid", id_}, {"typ", "JWT"}}; }

  std::string token(const Json& claims) const { return token(header(), claims); }
  // Signed by this key, whatever the header says.
  std::string token(const Json& header, const Json& claims) const {
    const std::string text = to_base64url(header.dump()) + "." + to_base64url(claims.dump());
    return text + "." + to_base64url(sign(text));
  }

  const std::string& id() const { return id_; }

 private:
  SigningKey(std::string id, std::string algorithm, EVP_PKEY* key)
      : id_(std::move(id)), algorithm_(std::move(algorithm)), key_(key, EVP_PKEY_free) {
    CHECK(key != nullptr);
  }

  static unsigned char* data(std::string& bytes) {
    return reinterpret_cast<unsigned char*>(bytes.data());
  }
  static const unsigned char* data(const std::string& bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
  }

  std::string number(const char* name, size_t width) const {
    BIGNUM* value = nullptr;
    CHECK(EVP_PKEY_get_bn_param(key_.get(), name, &value) == 1);
    const size_t size = width == 0 ? static_cast<size_t>(BN_num_bytes(value)) : width;
    std::string bytes(size, '\0');
    BN_bn2binpad(value, data(bytes), static_cast<int>(size));
    BN_free(value);
    return to_base64url(bytes);
  }

  std::string sign(const std::string& text) const {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    const EVP_MD* digest = algorithm_ == "EdDSA" ? nullptr : EVP_sha256();
    CHECK(EVP_DigestSignInit(context, nullptr, digest, nullptr, key_.get()) == 1);
    size_t size = 1024;
    std::string signature(size, '\0');
    CHECK(EVP_DigestSign(context, data(signature), &size, data(text), text.size()) == 1);
    signature.resize(size);
    EVP_MD_CTX_free(context);
    return algorithm_ == "ES256" ? raw(signature) : signature;
  }

  static std::string raw(const std::string& der) {
    const unsigned char* at = data(der);
    ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()));
    std::string bytes(64, '\0');
    BN_bn2binpad(ECDSA_SIG_get0_r(pair), data(bytes), 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair), data(bytes) + 32, 32);
    ECDSA_SIG_free(pair);
    return bytes;
  }

  std::string id_;
  std::string algorithm_;
  std::shared_ptr<EVP_PKEY> key_;
};

inline std::string key_set_text(std::initializer_list<SigningKey::Json> keys) {
  return SigningKey::Json{{"keys", SigningKey::Json(keys)}}.dump();
}

}  // namespace hai
