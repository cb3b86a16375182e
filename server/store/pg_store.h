#pragma once
// The Store on PostgreSQL: a thread with one connection that serves one request after the other, so
// that a load sees every append that was answered before it. Belongs to the loop's thread.

#include <memory>
#include <string>

#include "common/loop.h"
#include "server/control/ports.h"
#include "server/store/leader_lease.h"

namespace hai {

struct PgStoreOptions {
  std::string conninfo;
  std::string cluster_id = {};  // see PgOptions
  Duration connect_timeout = 3s;
  Duration statement_timeout = 5s;
  ServerAddresses advertise = {};  // where others find this server when it leads
  Duration lease_silence = kLeaseSilence;
};

class PgStore final : public Store {
 public:
  PgStore(Loop& loop, PgStoreOptions options);
  ~PgStore() override;

  void acquire(Duration lease, Epoch floor, std::function<void(Result<Term>)> done) override;
  ServerAddresses leader() const override;
  LogPosition leader_position() const override;
  std::optional<Duration> lease_left() const override;
  void renew(Epoch epoch, Duration lease, std::function<void(Result<Term>)> done) override;
  void release(Epoch epoch, std::function<void()> done) override;
  void load(std::function<void(Result<StoredState>)> done) override;
  void append(AppendBatch batch, std::function<void(Status)> done) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hai
