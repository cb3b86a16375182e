#pragma once
// Ranks that are timers instead of processes, for a fleet of pretended nodes: launched at once, at
// their end after the number of seconds their parameters begin with ("sleep 60" or "60"), or never.
// Loop thread only.

#include <map>

#include "agent/core/log_source.h"
#include "agent/core/ports.h"
#include "common/loop.h"

namespace hai {

class TimerRanks final : public RankHost, public LogSource {
 public:
  explicit TimerRanks(Loop& loop) : loop_(loop) {}
  ~TimerRanks() override;

  std::vector<RankStatus> adopt() override { return {}; }
  void launch(const LaunchRank& order, MonoTime lease_until) override;
  void suspend(const RankKey& key, Duration grace) override;
  void resume(const RankKey&) override {}
  void kill(const RankKey& key) override;
  void forget(const RankKey& key) override;
  void extend_leases(MonoTime until) override;
  void set_listener(Listener listener) override { listener_ = std::move(listener); }

  LogChunk read(const LogRequest& request) override;

 private:
  struct Rank {
    RankStatus status;
    TimerId timer = 0;
  };
  void after(const RankKey& key, Duration delay, ExitCause cause, int exit_code);
  void exit(const RankKey& key, ExitCause cause, int exit_code);
  void arm_fence();

  Loop& loop_;
  Listener listener_;
  std::map<RankKey, Rank> ranks_;
  MonoTime lease_until_{};
  TimerId fence_timer_ = 0;
};

}  // namespace hai
