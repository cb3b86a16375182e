#pragma once
// What the agent's core needs from the world. Production: agent/os and agent/rpc. Simulator: sim/.
// Everything runs on the agent's loop thread; callbacks are never made from inside a port's call.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/agent_messages.h"
#include "common/time.h"

namespace hai {

// Holds the ranks of this node, one shim each; they outlive the agent. The host enforces the lease:
// a rank whose lease has ended is killed by its shim with cause `fenced` even if no agent is there
// to see it.
class RankHost {
 public:
  virtual ~RankHost() = default;

  // Statuses of all ranks the node has, among them those started by an earlier agent process, and
  // exited ones until forget(). Called once, before anything else. They have the proofs of their
  // launches; what the listener is told later need not.
  virtual std::vector<RankStatus> adopt() = 0;

  // Starts one rank; its status follows by the listener, also if it cannot start (exited,
  // launch_failed).
  virtual void launch(const LaunchRank& order, MonoTime lease_until) = 0;

  // Shows the program the suspend request (flag for the SDK; `suspend_signal`; or SIGTERM, if the
  // order says so), and kills the rank with cause `grace_over` if it still runs after `grace`.
  // Repeating it keeps the first deadline.
  virtual void suspend(const SuspendRank& order) = 0;
  // Takes the request back, deadline included.
  virtual void resume(const RankKey& key) = 0;
  // SIGTERM, 5 s, SIGKILL to every process of the rank; cause `killed`. Repeating it does nothing.
  virtual void kill(const RankKey& key) = 0;
  // The same, but first writes into the rank's log where each of its processes stands.
  virtual void kill_with_evidence(const RankKey& key) { kill(key); }
  // Drops what is kept of an exited rank, but not its logs.
  virtual void forget(const RankKey& key) = 0;
  // Ranks may live until then.
  virtual void extend_leases(MonoTime until) = 0;

  // Called with the whole new status on each change of a rank.
  using Listener = std::function<void(const RankStatus&)>;
  virtual void set_listener(Listener listener) = 0;
};

// One connection to the leading server at a time; connects and reconnects by itself, with jitter.
class ServerLink {
 public:
  virtual ~ServerLink() = default;
  struct Listener {
    // A fresh stream: the core sends a full report at once.
    std::function<void()> connected;
    std::function<void(const AgentOrder&)> order;  // only from the current stream
    std::function<void()> disconnected;
  };
  virtual void start(Listener listener) = 0;
  // Drops the report if there is no stream: the next one says the same again.
  virtual void send(const AgentReport& report) = 0;
};

}  // namespace hai
