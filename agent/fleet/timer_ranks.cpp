#include "agent/fleet/timer_ranks.h"

#include <algorithm>

#include "agent/fleet/pretended_log.h"
#include "agent/fleet/rank_program.h"

namespace hai {

namespace {

constexpr int kExitTerminated = 143;  // 128 + SIGTERM
constexpr int kExitKilled = 137;

}  // namespace

TimerRanks::~TimerRanks() {
  for (const auto& [key, rank] : ranks_) loop_.cancel(rank.timer);
  loop_.cancel(fence_timer_);
}

void TimerRanks::launch(const LaunchRank& order, MonoTime lease_until) {
  Rank& rank = ranks_[order.key];
  rank.status = {.key = order.key, .phase = RankPhase::starting, .started_at = loop_.wall_now()};
  rank.is_validation = order.is_validation;
  extend_leases(lease_until);
  const RankProgram program = program_of(order, other_length_);
  rank.timer =
      loop_.call_after(habit_.delay, [this, key = order.key, program, failure = habit_.failure] {
        if (failure) return end(key, ExitCause::launch_failed, 0, *failure);
        launched(key, program.length, program.exit_code);
      });
}

void TimerRanks::launched(const RankKey& key, std::optional<Duration> length, int exit_code) {
  auto found = ranks_.find(key);
  if (found == ranks_.end() || found->second.status.phase != RankPhase::starting) return;
  found->second.timer = 0;
  found->second.ran_from = loop_.now();
  found->second.status.phase = RankPhase::running;
  listener_(found->second.status);
  if (length) end_after(key, *length, ExitCause::program, exit_code);
}

// A program that saves in no time.
void TimerRanks::suspend(const SuspendRank& order) {
  end_after(order.key, Duration(0), ExitCause::go_suspend, 0);
}

void TimerRanks::kill(const RankKey& key) {
  end_after(key, Duration(0), ExitCause::killed, kExitTerminated);
}

void TimerRanks::forget(const RankKey& key) {
  auto found = ranks_.find(key);
  if (found == ranks_.end()) return;
  loop_.cancel(found->second.timer);
  ranks_.erase(found);
}

void TimerRanks::extend_leases(MonoTime until) {
  lease_until_ = until;
  if (fence_timer_ == 0 && !ranks_.empty()) arm_fence();
}

// One timer that looks again when it fires, instead of one more for each grant.
void TimerRanks::arm_fence() {
  fence_timer_ = loop_.call_after(lease_until_ - loop_.now(), [this] {
    fence_timer_ = 0;
    if (ranks_.empty()) return;
    if (loop_.now() < lease_until_) return arm_fence();
    std::vector<RankKey> keys;
    for (const auto& [key, rank] : ranks_) keys.push_back(key);
    for (const RankKey& key : keys) end(key, ExitCause::fenced, kExitKilled);
  });
}

void TimerRanks::end_after(const RankKey& key, Duration delay, ExitCause cause, int exit_code) {
  auto found = ranks_.find(key);
  if (found == ranks_.end() || found->second.status.phase == RankPhase::exited) return;
  loop_.cancel(found->second.timer);
  found->second.timer =
      loop_.call_after(delay, [this, key, cause, exit_code] { end(key, cause, exit_code); });
}

void TimerRanks::end(const RankKey& key, ExitCause cause, int exit_code,
                     const std::string& message) {
  auto found = ranks_.find(key);
  if (found == ranks_.end() || found->second.status.phase == RankPhase::exited) return;
  Rank& rank = found->second;
  loop_.cancel(std::exchange(rank.timer, 0));
  rank.status.phase = RankPhase::exited;
  rank.status.cause = cause;
  rank.status.exit_code = exit_code;
  rank.status.message = message;
  rank.status.ended_at = loop_.wall_now();
  rank.ran_until = loop_.now();
  if (rank.is_validation && cause == ExitCause::program) {
    rank.status.measurements = {{.test = "fleet", .detail = "there is no machine to measure"}};
  }
  listener_(rank.status);
}

size_t TimerRanks::living() const {
  return static_cast<size_t>(std::ranges::count_if(
      ranks_, [](const auto& each) { return each.second.status.phase != RankPhase::exited; }));
}

LogChunk TimerRanks::read(const LogRequest& request) {
  auto found = ranks_.find(request.key);
  if (found != ranks_.end() && found->second.ran_from) {
    const Rank& rank = found->second;
    const MonoTime until = rank.ran_until.value_or(loop_.now());
    return read_pretended_log(request, until - *rank.ran_from, rank.ran_until.has_value());
  }
  LogChunk chunk;
  chunk.offset = chunk.next_offset = request.offset;
  chunk.end = found == ranks_.end() || found->second.status.phase == RankPhase::exited;
  return chunk;
}

}  // namespace hai
