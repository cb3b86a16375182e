#pragma once
// A store in memory with the contract of PgStore, for the simulator and for tests. Servers that
// share a MemDatabase contend for it as they would for PostgreSQL. No clock and no thread of its
// own: time is the loops'. Requests of one MemStore are served one after the other, and each has
// two halves: it reaches the database and is executed there, then its answer travels back.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/loop.h"
#include "server/control/ports.h"

namespace hai {

// What happens to one request.
enum class MemFault {
  ok,
  fail_before,  // unavailable, and nothing was done
  fail_after,   // done, but the caller is told unavailable
  abort,        // aborted, and nothing was done
};

// Asked once per request; empty hooks mean no latency, no faults, and writes that land.
struct MemHooks {
  std::function<Duration()> latency;            // of the whole request
  std::function<Duration(Duration)> way_there;  // of it, until it is done; half of it if empty
  std::function<MemFault()> fault;
  std::function<bool()> lands_on_crash;  // whether the write under way when its server dies is done
};

struct MemOptions {
  bool keep_events = true;    // false: count them only, for long replays of traces
  bool keep_finished = true;  // false: finished jobs leave the rows
  size_t past_kept = 0;       // so many transactions it can go back; needs keep_events
};

class MemDatabase {
 public:
  // `clock` is the database's own; leases expire by it.
  explicit MemDatabase(Loop& clock, MemOptions options = {}) : clock_(clock), options_(options) {}

  MemHooks hooks;  // of every MemStore on it
  // Fails over: what is done stays, but answers under way are lost.
  void break_sessions() { ++sessions_broken_; }
  // The same to a replica that lags by up to so many transactions: they never were.
  void go_back(size_t transactions);

  // What a server would load now: everything unfinished.
  StoredState stored_state() const;
  const std::vector<Event>& events() const { return events_; }
  const std::map<JobId, Job>& jobs() const { return jobs_; }  // finished ones too
  bool went_back() const { return times_gone_back_ > 0; }
  int64_t times_gone_back() const { return times_gone_back_; }
  // Once at least half of the nodes it knew were registered in what is gone.
  bool has_forgotten_nodes() const { return has_forgotten_nodes_; }
  const std::set<JobId>& lost_jobs() const { return lost_jobs_; }  // submitted in what is gone
  const std::map<IncidentId, Incident>& incidents() const { return incidents_; }  // closed ones too
  Epoch epoch() const { return epoch_; }  // of the last acquire
  int64_t last_seq() const { return last_seq_; }
  const std::string& holder() const { return holder_; }  // "" = nobody
  UnixTime wall_now() const { return clock_.wall_now(); }
  MonoTime lease_expires() const { return lease_expires_; }
  bool has_valid_lease() const { return !holder_.empty() && clock_.now() < lease_expires_; }

 private:
  friend class MemStore;

  Result<Epoch> acquire(const std::string& holder, Duration lease, Epoch floor);
  Status renew(const std::string& holder, Epoch epoch, Duration lease);
  void release(const std::string& holder, Epoch epoch);
  Status append(const std::string& holder, AppendBatch& batch);
  void write_rows(AppendBatch& batch);
  void remember();
  auto contents() {
    return std::tie(epoch_, started_epoch_, holder_, last_seq_, last_job_, jobs_, nodes_, users_,
                    quotas_, tokens_, secrets_, identities_, knobs_, incidents_);
  }

  Loop& clock_;
  MemOptions options_;
  Epoch epoch_;
  Epoch started_epoch_;  // of the last epoch_started event
  int64_t sessions_broken_ = 0;
  int64_t times_gone_back_ = 0;
  bool has_forgotten_nodes_ = false;
  std::set<JobId> lost_jobs_;
  std::string holder_;
  MonoTime lease_expires_{};
  int64_t last_seq_ = 0;
  JobId last_job_;
  std::vector<Event> events_;
  std::map<JobId, Job> jobs_;
  std::map<NodeId, Node> nodes_;
  std::map<std::string, User> users_;
  std::map<std::tuple<std::string, std::string, Priority>, Quota> quotas_;
  std::map<std::string, Token> tokens_;
  std::map<ClusterState::SecretKey, Secret> secrets_;
  std::map<std::string, NodeIdentity> identities_;
  std::map<std::string, KnobSetting> knobs_;
  std::map<IncidentId, Incident> incidents_;
  using Contents =
      std::tuple<Epoch, Epoch, std::string, int64_t, JobId, std::map<JobId, Job>,
                 std::map<NodeId, Node>, std::map<std::string, User>,
                 std::map<std::tuple<std::string, std::string, Priority>, Quota>,
                 std::map<std::string, Token>, std::map<ClusterState::SecretKey, Secret>,
                 std::map<std::string, NodeIdentity>, std::map<std::string, KnobSetting>,
                 std::map<IncidentId, Incident>>;
  std::deque<Contents> past_;  // before each of the last transactions
};

class MemStore final : public Store {
 public:
  // `holder` names this server, uniquely among those that share the database.
  MemStore(Loop& loop, MemDatabase& database, std::string holder);
  ~MemStore() override;

  void acquire(Duration lease, Epoch floor, std::function<void(Result<Term>)> done) override;
  LogPosition leader_position() const override;
  void renew(Epoch epoch, Duration lease, std::function<void(Result<Term>)> done) override;
  void release(Epoch epoch, std::function<void()> done) override;
  void load(std::function<void(Result<StoredState>)> done) override;
  void append(AppendBatch batch, std::function<void(Status)> done) override;

  // Its server dies: no callback comes any more, what waits is dropped, and what is under way may
  // or may not be done (hooks.lands_on_crash). The destructor does the same.
  void crash();

 private:
  struct Request;
  struct Core;
  void submit(Request request);
  static void start_next(const std::shared_ptr<Core>& core);
  static void execute(const std::shared_ptr<Core>& core, Duration way_back);

  std::shared_ptr<Core> core_;
};

}  // namespace hai
