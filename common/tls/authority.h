#pragma once
// The certificate authority of a cluster: makes itself, and the certificates of servers and nodes.
// P-256 keys; nothing is kept here.

#include <string>
#include <vector>

#include "common/status.h"
#include "common/time.h"

namespace hai {

struct KeyAndCertificate {  // PEM
  std::string key;
  std::string certificate;
};

inline constexpr int kAuthorityDays = 3'653;
inline constexpr int kCertificateDays = 365;

Result<KeyAndCertificate> make_authority(int days = kAuthorityDays);

// The authority must be one and in force, and what it issues ends with it at the latest.
// A server's certificate is for its names (DNS names and addresses), with that of the authority
// behind it, by which agents that were told its fingerprint know it. A node's is for one node: it
// names it as kNodeUri does, and serves for nothing else.
Result<KeyAndCertificate> issue_for_server(const KeyAndCertificate& authority,
                                           const std::vector<std::string>& names,
                                           int days = kCertificateDays);
Result<KeyAndCertificate> issue_for_node(const KeyAndCertificate& authority,
                                         const std::string& node, int days = kCertificateDays);
// Of the cluster's PostgreSQL, until the authority ends, for nobody renews it. Its subject tells it
// from a server's (OU); TLS has no usage by which clients could.
inline constexpr const char* kDatabasesOu = "hai-database";
inline constexpr const char* kServersOu = "hai-server";
Result<KeyAndCertificate> issue_for_database(const KeyAndCertificate& authority,
                                             const std::vector<std::string>& names);

// For how long a certificate is to hold; to the second, rounded down.
struct Validity {
  UnixTime begins{};
  UnixTime ends{};
};
struct IssuedCertificate {
  std::string certificate;  // PEM, and those above it but the authority that signs itself
  std::string serial;       // in hexadecimal
  UnixTime ends{};          // no later than the authority
};
// A node's certificate for the key in a request (common/tls/request.h), and nothing else of it.
Result<IssuedCertificate> issue_for_request(const KeyAndCertificate& authority,
                                            const std::string& request, const std::string& node,
                                            const Validity& validity);

// The certificate in the authority's text that belongs to its key: while the CA is changed, there
// are several.
Result<std::string> own_certificate(const KeyAndCertificate& authority);

}  // namespace hai
