#pragma once
// What a node does with a certificate that it was given, by joining or by renewing.

#include <string>
#include <vector>

#include "agent/rpc/certificate_calls.h"
#include "common/status.h"
#include "common/tls/tls_files.h"

namespace hai {

// Whether the reply is of use: a certificate of this node for this key, in force, and CAs.
Status check_reply(const NodeCertificateReply& reply, const std::string& node,
                   const std::string& key);

// Whom to believe from now on, in PEM: the CAs that the cluster names, if all servers that answer
// are of them; else those that were believed until now, too, since a server's certificate may be of
// a CA that issues nothing for nodes.
std::string authorities_to_keep(const NodeCertificateReply& reply, const std::string& believed,
                                const std::vector<std::string>& servers);

// Replaces what has changed: the CAs, then key and certificate. Of a CA's own folder (`ca.key` lies
// beside) the CAs are left as they are: they are not the node's to change.
Status keep_reply(const TlsFiles& files, const NodeCertificateReply& reply, const std::string& key,
                  const std::string& authorities);

}  // namespace hai
