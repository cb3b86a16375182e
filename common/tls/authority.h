#pragma once
// The certificate authority of a cluster: makes itself, and the certificates of servers and nodes.
// P-256 keys; nothing is kept here.

#include <string>
#include <vector>

#include "common/status.h"

namespace hai {

struct KeyAndCertificate {  // PEM
  std::string key;
  std::string certificate;
};

inline constexpr int kAuthorityDays = 3'653;
inline constexpr int kCertificateDays = 365;

Result<KeyAndCertificate> make_authority(int days = kAuthorityDays);

// The authority must be one and in force, and what it issues ends with it at the latest.
// A server's certificate is for its names (DNS names and addresses), a node's for one node: it
// names it as kNodeUri does, and serves for nothing else.
Result<KeyAndCertificate> issue_for_server(const KeyAndCertificate& authority,
                                           const std::vector<std::string>& names,
                                           int days = kCertificateDays);
Result<KeyAndCertificate> issue_for_node(const KeyAndCertificate& authority,
                                         const std::string& node, int days = kCertificateDays);

}  // namespace hai
