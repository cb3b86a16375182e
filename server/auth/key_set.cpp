#include "server/auth/key_set.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <nlohmann/json.hpp>

#include "common/free_with.h"
#include "server/auth/base64url.h"
#include "server/auth/json_text.h"

namespace hai {

namespace {

using Json = nlohmann::json;
using KeyPtr = std::shared_ptr<EVP_PKEY>;

constexpr int kRsaBitsMin = 2048;
constexpr int kRsaBitsMax = 8192;  // One of more costs whoever checks it too much.
constexpr size_t kCoordinateBytes = 32;
constexpr std::string_view kEdwards = "EdDSA";

// RFC 9864 calls the only curve of EdDSA that is taken here by its own name.
std::string_view known_name(std::string_view algorithm) {
  return algorithm == "Ed25519" ? kEdwards : algorithm;
}

using Number = std::unique_ptr<BIGNUM, Free<BN_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, Free<OSSL_PARAM_BLD_free>>;
using Params = std::unique_ptr<OSSL_PARAM, Free<OSSL_PARAM_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Free<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;
using EcSignature = std::unique_ptr<ECDSA_SIG, Free<ECDSA_SIG_free>>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Number number_of(const std::string& bytes) {
  return Number(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

KeyPtr make_key(const char* type, OSSL_PARAM_BLD* builder) {
  const Params params(OSSL_PARAM_BLD_to_param(builder));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (params && context && EVP_PKEY_fromdata_init(context.get()) == 1) {
    EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get());
  }
  return KeyPtr(key, EVP_PKEY_free);
}

KeyPtr rsa_key(const Json& json) {
  const auto modulus = from_base64url(text_at(json, "n"));
  const auto exponent = from_base64url(text_at(json, "e"));
  if (!modulus || !exponent || modulus->empty() || exponent->empty()) return nullptr;
  if (modulus->size() > kRsaBitsMax / 8 || exponent->size() > 8) return nullptr;
  const Number n = number_of(*modulus);
  const Number e = number_of(*exponent);
  const Builder builder(OSSL_PARAM_BLD_new());
  if (!n || !e || !builder || BN_num_bits(n.get()) < kRsaBitsMin || !BN_is_odd(e.get()) ||
      BN_is_one(e.get()) ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return nullptr;
  }
  return make_key("RSA", builder.get());
}

KeyPtr ec_key(const Json& json) {
  const auto x = from_base64url(text_at(json, "x"));
  const auto y = from_base64url(text_at(json, "y"));
  if (text_at(json, "crv") != "P-256" || !x || !y || x->size() != kCoordinateBytes ||
      y->size() != kCoordinateBytes) {
    return nullptr;
  }
  const std::string point = "\x04" + *x + *y;  // not compressed
  const Builder builder(OSSL_PARAM_BLD_new());
  if (!builder ||
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1) {
    return nullptr;
  }
  return make_key("EC", builder.get());
}

KeyPtr ed_key(const Json& json) {
  const auto x = from_base64url(text_at(json, "x"));
  if (text_at(json, "crv") != "Ed25519" || !x || x->size() != kCoordinateBytes) return nullptr;
  return {EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(*x), x->size()),
          EVP_PKEY_free};
}

// Tokens have both numbers one behind the other, OpenSSL wants them as DER.
std::string der_of(std::string_view signature) {
  if (signature.size() != 2 * kCoordinateBytes) return "";
  const EcSignature pair(ECDSA_SIG_new());
  const std::string r_bytes(signature.substr(0, kCoordinateBytes));
  const std::string s_bytes(signature.substr(kCoordinateBytes));
  Number r = number_of(r_bytes);
  Number s = number_of(s_bytes);
  if (!pair || !r || !s || ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return "";
  r.release();  // They are the pair's now.
  s.release();
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &der);
  if (size <= 0) return "";
  std::string text(reinterpret_cast<char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return text;
}

bool is_signature(EVP_PKEY* key, std::string_view algorithm, std::string_view text,
                  std::string_view signature) {
  const std::string der = algorithm == "ES256" ? der_of(signature) : std::string(signature);
  const EVP_MD* digest = algorithm == kEdwards ? nullptr : EVP_sha256();
  const DigestContext context(EVP_MD_CTX_new());
  const bool is_good =
      !der.empty() && context &&
      EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key) == 1 &&
      EVP_DigestVerify(context.get(), bytes_of(der), der.size(), bytes_of(text), text.size()) == 1;
  ERR_clear_error();
  return is_good;
}

}  // namespace

std::optional<KeySet::Key> KeySet::read_key(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const std::string use = text_at(json, "use");
  if (!use.empty() && use != "sig") return std::nullopt;
  Key key{.id = text_at(json, "kid"), .algorithm = "", .key = nullptr};
  const std::string type = text_at(json, "kty");
  if (type == "RSA") {
    key.algorithm = "RS256";
    key.key = rsa_key(json);
  } else if (type == "EC") {
    key.algorithm = "ES256";
    key.key = ec_key(json);
  } else if (type == "OKP") {
    key.algorithm = kEdwards;
    key.key = ed_key(json);
  }
  ERR_clear_error();
  const std::string wanted = text_at(json, "alg");
  if (!key.key || (!wanted.empty() && known_name(wanted) != key.algorithm)) return std::nullopt;
  return key;
}

Result<KeySet> KeySet::parse(std::string_view json) {
  const Json document = Json::parse(json, nullptr, false);
  const auto keys = document.is_object() ? document.find("keys") : document.end();
  if (!document.is_object() || keys == document.end() || !keys->is_array()) {
    return unavailable("the identity provider's keys cannot be read: no JSON Web Key Set");
  }
  KeySet set;
  for (const Json& each : *keys) {
    if (set.keys_.size() == kKeysMax) break;
    if (std::optional<Key> key =
            read_key(each.dump(-1, ' ', false, Json::error_handler_t::ignore))) {
      set.keys_.push_back(std::move(*key));
    }
  }
  if (set.keys_.empty()) {
    return unavailable(
        "the identity provider publishes no key for RS256 (2048 bits or more), ES256 or EdDSA");
  }
  return set;
}

Status KeySet::verify(const Signed& what) const {
  const std::string_view algorithm = known_name(what.algorithm);
  if (algorithm != "RS256" && algorithm != "ES256" && algorithm != kEdwards) {
    return unauthenticated("the ID token is not signed with RS256, ES256 or EdDSA");
  }
  const Key* found = nullptr;
  for (const Key& key : keys_) {
    const bool is_meant = what.key_id.empty() ? key.algorithm == algorithm : key.id == what.key_id;
    if (!is_meant) continue;
    if (found != nullptr) return unauthenticated("several keys fit the ID token: it names none");
    found = &key;
  }
  if (found == nullptr) return not_found("the ID token is signed with a key that is not known");
  if (found->algorithm != algorithm) {
    return unauthenticated("the ID token's algorithm is not that of its key, {}", found->algorithm);
  }
  if (!is_signature(found->key.get(), found->algorithm, what.text, what.signature)) {
    return unauthenticated("the ID token's signature is wrong");
  }
  return ok();
}

}  // namespace hai
