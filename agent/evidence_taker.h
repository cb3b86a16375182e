#pragma once
// Takes the evidence of ranks that hang, several at once, by polling hai-hang-evidence from the
// loop.

#include <functional>
#include <list>

#include "agent/hang/evidence_run.h"
#include "agent/health/health_config.h"
#include "agent/os/os_rank_host.h"
#include "common/loop.h"

namespace hai {

class EvidenceTaker {
 public:
  EvidenceTaker(Loop& loop, HealthConfig config) : loop_(loop), config_(std::move(config)) {}
  ~EvidenceTaker() { loop_.cancel(timer_); }
  EvidenceTaker(const EvidenceTaker&) = delete;
  EvidenceTaker& operator=(const EvidenceTaker&) = delete;

  void take(const RankInUse& rank, OsRankHostOptions::EvidenceDone done);

 private:
  struct Running {
    EvidenceRun run;
    OsRankHostOptions::EvidenceDone done;
  };
  void poll();

  Loop& loop_;
  const HealthConfig config_;
  std::list<Running> running_;
  TimerId timer_ = 0;
};

}  // namespace hai
