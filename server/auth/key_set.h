#pragma once
// The public keys with which an identity provider signs, as it publishes them (JWKS, RFC 7517). A
// key says by its type which one algorithm it is good for; what a token claims does not count. So
// no token can have itself checked with no algorithm, or with a public key as if it were a secret.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

struct evp_pkey_st;

namespace hai {

class KeySet {
 public:
  static constexpr size_t kKeysMax = 64;

  // Keys of types that are not supported, too weak ones and those that are not for signatures are
  // left out: providers publish them beside the others. Unavailable if none is left.
  static Result<KeySet> parse(std::string_view json);

  // ok; not_found if there is no such key, which may have been published since; unauthenticated if
  // the signature is not of that key. Without an id there must be one key of that algorithm.
  struct Signed {
    std::string_view key_id;
    std::string_view algorithm;
    std::string_view text;
    std::string_view signature;
  };
  Status verify(const Signed& what) const;

  size_t size() const { return keys_.size(); }

 private:
  struct Key {
    std::string id;
    std::string algorithm;  // RS256, ES256 or EdDSA
    std::shared_ptr<evp_pkey_st> key;
  };
  static std::optional<Key> read_key(std::string_view json);

  std::vector<Key> keys_;
};

}  // namespace hai
