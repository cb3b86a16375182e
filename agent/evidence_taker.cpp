#include "agent/evidence_taker.h"

namespace hai {

namespace {

constexpr Duration kPollPeriod = 200ms;

}  // namespace

void EvidenceTaker::take(const RankInUse& rank, OsRankHostOptions::EvidenceDone done) {
  EvidenceOrder order{.shim = rank.shim, .cgroups = rank.cgroups};
  order.nvml_library = config_.nvml_library;
  order.sys_root = config_.sys_root;
  Result<EvidenceRun> run = EvidenceRun::start(order, loop_.now());
  if (!run.is_ok()) {
    loop_.post([done = std::move(done), why = run.status().message()] {
      done("no evidence: " + why, "");
    });
    return;
  }
  running_.push_back({std::move(run).value(), std::move(done)});
  if (timer_ == 0) poll();
}

void EvidenceTaker::poll() {
  timer_ = 0;
  for (auto each = running_.begin(); each != running_.end();) {
    std::optional<HangEvidence> evidence = each->run.poll(loop_.now());
    if (!evidence) {
      ++each;
      continue;
    }
    const OsRankHostOptions::EvidenceDone done = std::move(each->done);
    each = running_.erase(each);
    done(evidence->summary, evidence->text);
  }
  if (!running_.empty()) timer_ = loop_.call_after(kPollPeriod, [this] { poll(); });
}

}  // namespace hai
