#include "agent/timer_ranks.h"

#include <charconv>
#include <optional>

namespace hai {

namespace {

constexpr int64_t kSecondsMax = 10'000'000;

// The first number among the words of "sleep 60" or "60".
std::optional<Duration> length_of(const LaunchRank& order) {
  const std::string& text = order.parameters;
  const size_t digit = text.find_first_of("0123456789");
  if (digit == std::string::npos) return std::nullopt;
  int64_t seconds = 0;
  auto parsed = std::from_chars(text.data() + digit, text.data() + text.size(), seconds);
  if (parsed.ec != std::errc() || seconds > kSecondsMax) return std::nullopt;
  return std::chrono::seconds(seconds);
}

}  // namespace

TimerRanks::~TimerRanks() {
  for (const auto& [key, rank] : ranks_) loop_.cancel(rank.timer);
  loop_.cancel(fence_timer_);
}

void TimerRanks::launch(const LaunchRank& order, MonoTime lease_until) {
  Rank& rank = ranks_[order.key];
  rank.status = {.key = order.key, .phase = RankPhase::running, .started_at = loop_.wall_now()};
  extend_leases(lease_until);
  if (auto length = length_of(order)) after(order.key, *length, ExitCause::program, 0);
  loop_.post([this, key = order.key] {
    auto found = ranks_.find(key);
    if (found != ranks_.end()) listener_(found->second.status);
  });
}

// A program that saves in no time.
void TimerRanks::suspend(const RankKey& key, Duration) {
  after(key, Duration(0), ExitCause::go_suspend, 0);
}

void TimerRanks::kill(const RankKey& key) { after(key, Duration(0), ExitCause::killed, 143); }

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
    for (const RankKey& key : keys) exit(key, ExitCause::fenced, 137);
  });
}

void TimerRanks::after(const RankKey& key, Duration delay, ExitCause cause, int exit_code) {
  auto found = ranks_.find(key);
  if (found == ranks_.end() || found->second.status.phase == RankPhase::exited) return;
  loop_.cancel(found->second.timer);
  found->second.timer =
      loop_.call_after(delay, [this, key, cause, exit_code] { exit(key, cause, exit_code); });
}

void TimerRanks::exit(const RankKey& key, ExitCause cause, int exit_code) {
  auto found = ranks_.find(key);
  if (found == ranks_.end() || found->second.status.phase == RankPhase::exited) return;
  Rank& rank = found->second;
  loop_.cancel(std::exchange(rank.timer, 0));
  rank.status.phase = RankPhase::exited;
  rank.status.cause = cause;
  rank.status.exit_code = exit_code;
  rank.status.ended_at = loop_.wall_now();
  listener_(rank.status);
}

LogChunk TimerRanks::read(const LogRequest& request) {
  LogChunk chunk;
  chunk.offset = chunk.next_offset = request.offset;
  auto found = ranks_.find(request.key);
  chunk.end = found == ranks_.end() || found->second.status.phase == RankPhase::exited;
  return chunk;
}

}  // namespace hai
