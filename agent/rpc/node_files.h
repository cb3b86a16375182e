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

// Whom to believe from now on, in PEM: the CAs that the cluster names, if all servers answer and
// are of them; else those that were believed until now, too, since a server's certificate may be of
// a CA that issues nothing for nodes, and one that is down shows none.
std::string authorities_to_keep(const NodeCertificateReply& reply, const std::string& believed,
                                const std::vector<std::string>& servers);

// Replaces what has changed: the CAs, then key and certificate. The file of CAs is written where
// there is none yet, or where it is the node's own: a file beside the certificate, no link, and not
// in a CA's own folder (`ca.key` lies beside). Others are left as they are.
Status keep_reply(const TlsFiles& files, const NodeCertificateReply& reply, const std::string& key,
                  const std::string& authorities);

}  // namespace hai
