#pragma once
// The lease of the leading server: the only row of cluster_epoch. Time is the database's. Runs on
// the store's thread.

#include <string>

#include "common/agent_messages.h"
#include "common/id.h"
#include "common/status.h"
#include "common/time.h"
#include "server/control/standing.h"
#include "server/store/pg_session.h"

namespace hai {

class LeaderLease {
 public:
  explicit LeaderLease(ServerAddresses own);  // of this process

  // See Store for what they answer.
  Result<Epoch> acquire(PgSession& session, Duration lease, Epoch floor = {});
  // Where the leader that refused the last acquire is reached.
  const ServerAddresses& leader() const { return leader_; }
  LogPosition leader_position() const { return leader_position_; }
  Duration lease_left() const { return lease_left_; }
  Status renew(PgSession& session, Epoch epoch, Duration lease);
  void release(PgSession& session, Epoch epoch);

  // Of the last acquire or renew; each append extends the lease as well.
  Duration length() const { return length_; }

 private:
  bool try_acquire(PgSession& session, const std::string& dead_process, Epoch floor, Epoch& epoch);

  const ServerAddresses own_;
  ServerAddresses leader_;
  LogPosition leader_position_;
  Duration lease_left_{0};
  std::string holder_;
  std::string process_;
  Duration length_{0};
};

// The error for a leader that has lost its lease: who leads instead of `epoch`.
Status lost_lease(PgSession& session, Epoch epoch);

}  // namespace hai
