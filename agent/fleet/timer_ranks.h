#pragma once
// Ranks that are timers instead of processes, for a fleet of pretended nodes. They keep what real
// ones promise: a rank ends at its fence, a suspended or killed one is gone, and each change is
// told. Loop thread only.

#include <map>
#include <optional>

#include "agent/core/log_source.h"
#include "agent/core/ports.h"
#include "common/loop.h"

namespace hai {

// How a node launches; faults on command change it.
struct LaunchHabit {
  Duration delay{0};
  std::optional<std::string> failure;  // set: no launch succeeds, and this is why
};

class TimerRanks final : public RankHost, public LogSource {
 public:
  // `habit` outlives it; `other_length` as in program_of.
  TimerRanks(Loop& loop, const LaunchHabit& habit, std::optional<Duration> other_length)
      : loop_(loop), habit_(habit), other_length_(other_length) {}
  ~TimerRanks() override;

  std::vector<RankStatus> adopt() override { return {}; }
  void launch(const LaunchRank& order, MonoTime lease_until) override;
  void suspend(const SuspendRank& order) override;
  void resume(const RankKey&) override {}
  void kill(const RankKey& key) override;
  void forget(const RankKey& key) override;
  void extend_leases(MonoTime until) override;
  void set_listener(Listener listener) override { listener_ = std::move(listener); }

  LogChunk read(const LogRequest& request) override;

  // Those that have not ended.
  size_t living() const;

 private:
  struct Rank {
    RankStatus status;
    TimerId timer = 0;
    std::optional<MonoTime> ran_from;
    std::optional<MonoTime> ran_until;
    bool is_validation = false;
  };
  void launched(const RankKey& key, std::optional<Duration> length, int exit_code);
  void end_after(const RankKey& key, Duration delay, ExitCause cause, int exit_code);
  void end(const RankKey& key, ExitCause cause, int exit_code, const std::string& message = "");
  void arm_fence();

  Loop& loop_;
  const LaunchHabit& habit_;
  const std::optional<Duration> other_length_;
  Listener listener_;
  std::map<RankKey, Rank> ranks_;
  MonoTime lease_until_{};
  TimerId fence_timer_ = 0;
};

}  // namespace hai
