#pragma once
// What a node asks a server about its certificate: one call each, which blocks, on a connection of
// its own.

#include <string>

#include "common/status.h"
#include "common/time.h"
#include "common/tls/tls_files.h"

namespace hai {

struct NodeCertificateReply {  // PEM
  std::string certificate;     // and its chain
  std::string authorities;
  std::string cluster;  // of who joins
};

struct JoinCall {
  std::string server;  // host:port; if another one leads and it says so, that one is asked
  TlsTexts tls;        // `ca` is whom to believe
  std::string token;   // of `hai node token create`
  std::string node;
  std::string request;  // PEM
};

Result<NodeCertificateReply> call_join(const JoinCall& call, Duration patience = 10s);
Result<NodeCertificateReply> call_renew(const std::string& server, const TlsTexts& tls,
                                        const std::string& request, Duration patience = 10s);

}  // namespace hai
