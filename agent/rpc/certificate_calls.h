#pragma once
// What a node asks a server about its certificate, and about the time: one call each, which blocks,
// on a connection of its own.

#include <optional>
#include <string>

#include "common/agent_messages.h"
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
  AgentIdentity machine;  // that joins
  std::string request;    // PEM
};

// Longer than a server has others wait before it refuses: one that gives up asks again, and makes
// the queue longer.
inline constexpr Duration kCertificatePatience = 30s;

Result<NodeCertificateReply> call_join(const JoinCall& call,
                                       Duration patience = kCertificatePatience);
Result<NodeCertificateReply> call_renew(const std::string& server, const TlsTexts& tls,
                                        const std::string& request,
                                        Duration patience = kCertificatePatience);

// By how much this machine's clock is ahead of that server's, at least; nullopt of a server of a
// version that does not tell.
Result<std::optional<Duration>> ask_clock_ahead(const std::string& server, const TlsTexts& tls,
                                                Duration patience = 5s);

}  // namespace hai
