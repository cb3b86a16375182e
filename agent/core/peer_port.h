#pragma once
// How an agent asks other agents whether their leases live, and what it keeps over its own restart.
// Production: agent/rpc/udp_peers and agent/os/agent_record_file. Simulator: sim/.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/agent_messages.h"
#include "common/status.h"
#include "common/time.h"

namespace hai {

// Questions and answers may be lost; both are authenticated.
class PeerPort {
 public:
  virtual ~PeerPort() = default;
  struct Listener {
    std::function<LeaseAnswer()> asked;  // by another agent: what is true now
    std::function<void(int64_t round, const std::string& node, LeaseAnswer)> answered;
  };
  virtual void start(Listener listener) = 0;
  // These will be asked some day: what takes a working network is done now.
  virtual void prepare(const std::vector<Peer>& peers) = 0;
  virtual void ask(int64_t round, const std::vector<Peer>& peers) = 0;
};

// For as long as the machine is up. Times are the agent loop's.
struct AgentRecord {
  MonoTime lease_until{};  // of the last grant
  MonoTime ranks_until{};  // to when the grants let ranks live: the lease, and what is left to ask
  Duration fence{0};       // from a granted report to the end of ranks
  NamePeers peers;
  LogPosition seen;        // the newest any leader's order named
  std::string seen_proof;  // that order's
  bool operator==(const AgentRecord&) const = default;
};
class AgentRecordKeeper {
 public:
  virtual ~AgentRecordKeeper() = default;
  // What an earlier agent process kept since the machine came up; of one before that, what it had
  // seen of the log.
  virtual std::optional<AgentRecord> load() = 0;
  virtual Status save(const AgentRecord& record) = 0;
};

}  // namespace hai
