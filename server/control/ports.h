#pragma once
// What the controller needs from the world. Production: server/store and server/rpc. Simulator:
// mem_store and sim/. All calls and all callbacks happen on the controller's loop thread; callbacks
// never come from inside the call.

#include <functional>
#include <string>
#include <vector>

#include "common/agent_messages.h"
#include "common/status.h"
#include "common/time.h"
#include "server/control/standing.h"
#include "server/model/cluster_state.h"

namespace hai {

// A term of leadership. The holder may decide and grant leases until `valid_until` by its own
// monotonic clock, counted from before the request that won or renewed it was sent, so that a
// paused process knows by itself that it is late.
struct Term {
  Epoch epoch;
  MonoTime valid_until{};
  // The store's own wall clock when it answered, which all servers share; nullopt = not told.
  std::optional<UnixTime> store_time;
};

// One transaction: the events, and every row they changed as it is after them.
struct AppendBatch {
  Epoch epoch;
  std::vector<Event> events;
  std::vector<Job> jobs;                           // with their latest attempt and its ranks
  std::vector<ReplacedAttempt> replaced_attempts;  // the ones before those, as they ended
  std::vector<Node> nodes;
  std::vector<User> users;
  std::vector<std::string> removed_users;
  std::vector<Quota> quotas;
  std::vector<Quota> removed_quotas;
  std::vector<Token> tokens;
  std::vector<std::string> removed_tokens;  // hashes
  std::vector<Secret> secrets;
  std::vector<Secret> removed_secrets;  // user and name
  std::vector<NodeIdentity> identities;
  std::vector<KnobSetting> knobs;
  std::vector<std::string> removed_knobs;
  std::vector<Incident> incidents;  // open and closed ones
};

class Store {
 public:
  virtual ~Store() = default;

  // Becomes leader with a new epoch if nobody else's lease is valid: `failed_precondition` naming
  // the leader otherwise, `unavailable` if the store can't be reached. Tries once.
  // The new epoch is higher than `floor`: of those that others have seen, the store may have lost
  // some.
  virtual void acquire(Duration lease, Epoch floor, std::function<void(Result<Term>)> done) = 0;
  // Where whoever led at the last acquire that told so is reached.
  virtual ServerAddresses leader() const { return {}; }
  // How far that leader's log was then.
  virtual LogPosition leader_position() const { return {}; }
  // How much of its lease was left then; nullopt = not told.
  virtual std::optional<Duration> lease_left() const { return std::nullopt; }
  // Extends the lease; `aborted` if another epoch has taken over.
  virtual void renew(Epoch epoch, Duration lease, std::function<void(Result<Term>)> done) = 0;
  // Gives the lease up at once, for a clean shutdown.
  virtual void release(Epoch epoch, std::function<void()> done) = 0;
  // Everything unfinished, as of the last committed transaction.
  virtual void load(std::function<void(Result<StoredState>)> done) = 0;
  // Durable when done(ok). `aborted`: another epoch leads, nothing was written. Any other error:
  // unknown whether it was written, so the caller must reload. One at a time.
  virtual void append(AppendBatch batch, std::function<void(Status)> done) = 0;
};

// The agents' streams.
class AgentPort {
 public:
  virtual ~AgentPort() = default;
  virtual void send(ConnectionId connection, const AgentOrder& order) = 0;
  virtual void close(ConnectionId connection, const std::string& reason) = 0;
};

// Told of every event once it is durable, in order; must not block.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void durable(const std::vector<Event>& events, const ClusterState& state) = 0;
  // Whether this server leads, or how old its answers are, has changed: who waits for events should
  // ask again.
  virtual void standing_changed() {}
};

}  // namespace hai
