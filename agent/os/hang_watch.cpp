#include "agent/os/hang_watch.h"

#include <algorithm>

namespace hai {

namespace {

constexpr Duration kPatienceMin = 2s;
constexpr Duration kPatienceMax = 5min;
constexpr int kLooks = 5;  // within the patience

}  // namespace

Duration HangWatch::patience(Duration watchdog) {
  return std::clamp(watchdog / 2, kPatienceMin, kPatienceMax);
}

HangWatch::HangWatch(Loop& loop, Sample sample, Changed changed)
    : loop_(loop), sample_(std::move(sample)), changed_(std::move(changed)) {}

HangWatch::~HangWatch() {
  for (const auto& [key, watched] : ranks_) loop_.cancel(watched.timer);
}

void HangWatch::follow(const RankStatus& status, Duration watchdog) {
  if (status.phase != RankPhase::running) return forget(status.key);
  auto [found, is_new] = ranks_.try_emplace(status.key);
  Watched& watched = found->second;
  watched.watchdog = watchdog;
  if (is_new) {
    watched.activity.started_at = loop_.now();
    watched.activity.samples.push_back(sample_(status.key));
  }
  const bool was_suspect = std::exchange(watched.is_suspect, status.word_at.has_value());
  if (watched.is_suspect == was_suspect) return;
  loop_.cancel(std::exchange(watched.timer, 0));
  watched.signs.clear();
  watched.gpu_percent.reset();
  if (!watched.is_suspect) {
    watched.activity.samples.resize(1);
    return;
  }
  look(status.key);
}

void HangWatch::forget(const RankKey& key) {
  const auto found = ranks_.find(key);
  if (found == ranks_.end()) return;
  loop_.cancel(found->second.timer);
  ranks_.erase(found);
}

void HangWatch::look(const RankKey& key) {
  Watched& watched = ranks_.at(key);
  const Duration patience = HangWatch::patience(watched.watchdog);
  watched.activity.samples.push_back(sample_(key));
  watched.gpu_percent = watched.activity.samples.back().gpu_utilization_percent;
  HangLimits limits;
  limits.patience = patience;
  std::vector<RankSign> signs;
  const MonoTime now = loop_.now();
  for (const HangSign& sign : hang_signs(watched.activity, limits, now)) {
    if (source_of(sign.kind) == HangSource::words) continue;  // the shim knows better
    signs.push_back({sign.kind, loop_.wall_now() - (now - sign.since)});
  }
  forget_old_samples(watched.activity, limits, now);
  const auto kinds = [](const std::vector<RankSign>& list) {
    std::vector<HangSignKind> out;
    for (const RankSign& sign : list) out.push_back(sign.kind);
    return out;
  };
  const bool is_news = kinds(signs) != kinds(watched.signs);
  if (is_news) watched.signs = std::move(signs);
  watched.timer = loop_.call_after(patience / kLooks, [this, key] { look(key); });
  if (is_news) changed_(key);
}

void HangWatch::complete(RankStatus& status) const {
  status.signs.clear();
  status.gpu_percent.reset();
  if (!status.word_at || status.phase != RankPhase::running) return;
  status.signs.push_back(
      {status.progress_step ? HangSignKind::no_progress : HangSignKind::silent_log,
       *status.word_at});
  const auto found = ranks_.find(status.key);
  if (found == ranks_.end()) return;
  status.signs.insert(status.signs.end(), found->second.signs.begin(), found->second.signs.end());
  status.gpu_percent = found->second.gpu_percent;
}

}  // namespace hai
