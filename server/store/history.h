#pragma once
// History, samples, hours and the list of servers on PostgreSQL: a thread and a connection of its
// own, so that a slow question never holds up an append. Belongs to the loop's thread.

#include <memory>
#include <string>

#include "common/hour_store.h"
#include "common/loop.h"
#include "common/server_store.h"
#include "server/control/history_port.h"
#include "server/control/sample_port.h"

namespace hai {

class PgHistory final : public History, public SampleStore, public HourStore, public ServerStore {
 public:
  PgHistory(Loop& loop, std::string conninfo);
  ~PgHistory() override;

  void jobs(JobQuery query, std::function<void(Result<std::vector<Job>>)> done) override;
  void job(JobKey key, std::function<void(Result<Job>)> done) override;
  void attempts(JobId job, std::function<void(Result<std::vector<Attempt>>)> done) override;
  void events(EventQuery query, std::function<void(Result<std::vector<Event>>)> done) override;
  void incidents(IncidentQuery query,
                 std::function<void(Result<std::vector<Incident>>)> done) override;
  void stays(NodeId node, int limit,
             std::function<void(Result<std::vector<NodeStay>>)> done) override;
  void audit(AuditQuery query, std::function<void(Result<std::vector<AuditRow>>)> done) override;

  void save(ClusterSample sample, Duration keep) override;
  void load(UnixTime since, Duration step,
            std::function<void(Result<std::vector<ClusterSample>>)> done) override;

  void count(Duration keep, std::function<void(Result<bool>)> done) override;
  void report(UnixTime since, UnixTime until, Duration step,
              std::function<void(Result<HourReport>)> done) override;

  void note(std::string own, Duration keep,
            std::function<void(Result<std::vector<std::string>>)> done) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hai
