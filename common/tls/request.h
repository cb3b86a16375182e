#pragma once
// A request for a certificate (PKCS#10): made where the key is, which never leaves that machine.

#include <string>

#include "common/status.h"

namespace hai {

struct KeyAndRequest {  // PEM
  std::string key;
  std::string request;
};

inline constexpr size_t kRequestBytesMax = 16 << 10;

// A new key (P-256), and the request for a certificate of it. What it says of names is for people
// who look at it: whoever issues takes only the key from it.
Result<KeyAndRequest> make_request(const std::string& node);

// Whether it is a request, made with the key that is in it, and the key is one that lasts: P-256,
// P-384, Ed25519, or RSA of 2048 to 8192 bits.
Status check_request(const std::string& pem);

}  // namespace hai
