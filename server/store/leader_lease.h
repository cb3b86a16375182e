#pragma once
// The lease of the leading server: the only row of cluster_epoch. Time is the database's, as far as
// it can be believed: its clock may be set back, or another machine with another clock be the
// primary. Runs on the store's thread.

#include <chrono>
#include <string>

#include "common/agent_messages.h"
#include "common/id.h"
#include "common/status.h"
#include "common/time.h"
#include "server/control/standing.h"
#include "server/store/pg_session.h"

namespace hai {

// Longer than any `server_lease`. A lease that nobody has extended for so long is over, and one
// that would end later than in so long was given before the database's clock was set back.
constexpr Duration kLeaseSilence = 66s;

class LeaderLease {
 public:
  // Of this process. `silence`: see kLeaseSilence; by this machine's monotonic clock.
  explicit LeaderLease(ServerAddresses own, Duration silence = kLeaseSilence);

  // See Store for what they answer.
  Result<Epoch> acquire(PgSession& session, Duration lease, Epoch floor = {});
  // Where the leader that refused the last acquire is reached.
  const ServerAddresses& leader() const { return leader_; }
  LogPosition leader_position() const { return leader_position_; }
  Duration lease_left() const { return lease_left_; }
  Status renew(PgSession& session, Epoch epoch, Duration lease);
  // The database's wall clock at the last acquire or renew that was granted.
  UnixTime store_time() const { return store_time_; }
  void release(PgSession& session, Epoch epoch);

  // Who holds it in the database's words: a store that has gone back may give an epoch again.
  const std::string& process() const { return process_; }
  // Of the last acquire or renew; each append extends the lease as well.
  Duration length() const { return length_; }

 private:
  // A holder whom nobody needs to wait for: its process; and `end`, if its lease must still be the
  // one that was seen to end then.
  struct Gone {
    std::string process;
    std::string end;
  };
  bool try_acquire(PgSession& session, const Gone& gone, Epoch floor, Epoch& epoch);
  bool is_silent(const std::string& lease);

  const ServerAddresses own_;
  const Duration silence_;
  std::string seen_lease_;  // epoch and end of the one that refused the last acquire
  std::chrono::steady_clock::time_point seen_since_;
  ServerAddresses leader_;
  LogPosition leader_position_;
  Duration lease_left_{0};
  std::string holder_;
  std::string process_;
  Duration length_{0};
  UnixTime store_time_{};
};

// SQL: what the column expires_at becomes when the lease is extended by parameter `number`, in
// microseconds.
std::string extended_end_sql(int number);

// The error for a leader that has lost its lease: who leads instead of `epoch`.
Status lost_lease(PgSession& session, Epoch epoch);

}  // namespace hai
