#pragma once
// What a certificate says, for people, checks and errors.

#include <string>
#include <vector>

#include "common/status.h"
#include "common/time.h"

namespace hai {

struct CertificateFacts {
  std::string subject;             // "CN=hai-server"
  std::string issuer;              // the same form
  std::vector<std::string> names;  // of servers: DNS names and addresses
  std::string node;                // of a node's certificate: the node, "" = it is of none
  UnixTime begins{};
  UnixTime ends{};
  bool is_authority = false;
  std::string fingerprint;  // SHA-256, in hexadecimal
};

// With how much left one that is renewed by hand should have been replaced: 30 days, or a quarter
// of its life. Of a short life by design a third is left when it should have been renewed.
Duration renewal_notice(const CertificateFacts& facts);

// Nodes are named by a URI among the alternative names of their certificates.
inline constexpr std::string_view kNodeUri = "hai:node:";

// All certificates in the text; none if it has none.
std::vector<CertificateFacts> read_certificates(const std::string& pem);
// The first certificate in the text.
Result<CertificateFacts> read_certificate(const std::string& pem);
// Whether the first certificate of `pem` was signed with the key of one of `authority`.
bool is_issued_by(const std::string& pem, const std::string& authority);
// The certificates of both texts, each once, those of `pem` first.
std::string joined_certificates(const std::string& pem, const std::string& more);

}  // namespace hai
