#include "common/hang_signs.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace hai {

namespace {

// Clocks of nodes differ, and a loop of a training step ends on all ranks at nearly the same time.
constexpr Duration kClearlyEarlier{10s};
constexpr int kBusyPercent = 90;  // a rank that waits in a collective
constexpr int kIdlePercent = 10;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string ago(MonoTime since, MonoTime now) {
  return format_duration(std::chrono::duration_cast<std::chrono::seconds>(now - since));
}

class Signs {
 public:
  Signs(const RankActivity& rank, const HangLimits& limits, MonoTime now)
      : rank_(rank), limits_(limits), now_(now) {}

  void add(HangSignKind kind, MonoTime since, std::string text) {
    if (now_ - since < limits_.patience) return;
    found_.push_back({.kind = kind, .since = since, .text = std::move(text)});
  }

  void add_words() {
    if (rank_.progress_at) {
      add(HangSignKind::no_progress, *rank_.progress_at,
          fmt::format("no progress report for {}", ago(*rank_.progress_at, now_)));
      return;
    }
    const MonoTime since = std::max(rank_.started_at, rank_.log_at.value_or(rank_.started_at));
    add(HangSignKind::silent_log, since, fmt::format("no log line for {}", ago(since, now_)));
  }

  // Since when every sample is idle; none if the last is not, or there are too few.
  template <typename IsIdle>
  std::optional<MonoTime> idle_since(const IsIdle& is_idle) const {
    std::optional<MonoTime> since;
    int recent = 0;
    for (size_t i = rank_.samples.size(); i-- > 0;) {
      const std::optional<bool> idle = is_idle(i);
      if (idle.has_value() && !*idle) break;
      if (!idle.has_value()) continue;  // not known then: neither for nor against
      since = rank_.samples[i].at;
      recent += now_ - *since <= limits_.patience;
    }
    return recent >= limits_.samples_min ? since : std::nullopt;
  }

  void add_gpu() {
    const auto since = idle_since([&](size_t i) -> std::optional<bool> {
      const auto& percent = rank_.samples[i].gpu_utilization_percent;
      if (!percent) return std::nullopt;
      return *percent <= limits_.gpu_idle_percent;
    });
    if (since)
      add(HangSignKind::gpu_idle, *since,
          fmt::format("GPUs at most {} % busy for {}", limits_.gpu_idle_percent,
                      ago(*since, now_)));
  }

  void add_network() {
    bool was_busy = false;
    const auto is_quiet = [&](size_t i) -> std::optional<bool> {
      const std::optional<double> rate = rate_at(i, &ActivitySample::received_bytes);
      if (!rate) return std::nullopt;
      return *rate <= static_cast<double>(limits_.quiet_bytes_per_second);
    };
    for (size_t i = 0; i < rank_.samples.size(); ++i) was_busy |= !is_quiet(i).value_or(true);
    const auto since = idle_since(is_quiet);
    if (since && was_busy)
      add(HangSignKind::network_quiet, *since,
          fmt::format("ports receive at most {} bytes/s for {}", limits_.quiet_bytes_per_second,
                      ago(*since, now_)));
  }

  void add_cpu() {
    const auto since = idle_since([&](size_t i) -> std::optional<bool> {
      const std::optional<double> rate = rate_at(i, &ActivitySample::cpu_time);
      if (!rate) return std::nullopt;
      return *rate / 1e6 <= limits_.cpu_idle_cores;  // microseconds per second
    });
    if (since)
      add(HangSignKind::cpu_idle, *since,
          fmt::format("processes use at most {:g} of a core for {}", limits_.cpu_idle_cores,
                      ago(*since, now_)));
  }

  std::vector<HangSign> take() { return std::move(found_); }

 private:
  static double number(int64_t value) { return static_cast<double>(value); }
  static double number(Duration value) { return static_cast<double>(value.count()); }

  // Growth per second up to sample i since the one before that has the counter. A counter that went
  // back was reset, and says nothing.
  template <typename Counter>
  std::optional<double> rate_at(size_t i, std::optional<Counter> ActivitySample::*counter) const {
    const ActivitySample& sample = rank_.samples[i];
    if (!(sample.*counter)) return std::nullopt;
    for (size_t j = i; j-- > 0;) {
      const ActivitySample& before = rank_.samples[j];
      if (!(before.*counter)) continue;
      const double grown = number(*(sample.*counter)) - number(*(before.*counter));
      if (grown < 0 || sample.at <= before.at) return std::nullopt;
      return grown / seconds(sample.at - before.at);
    }
    return std::nullopt;
  }

  const RankActivity& rank_;
  const HangLimits& limits_;
  MonoTime now_;
  std::vector<HangSign> found_;
};

// The only rank that `is_one` holds for, if it doesn't for all the others.
template <typename IsOne>
const RankLastSeen* only_one(const std::vector<RankLastSeen>& ranks, const IsOne& is_one) {
  const RankLastSeen* found = nullptr;
  for (const RankLastSeen& rank : ranks) {
    if (!is_one(rank)) continue;
    if (found != nullptr) return nullptr;
    found = &rank;
  }
  return found;
}

std::optional<HangSuspect> behind_in_steps(const std::vector<RankLastSeen>& ranks) {
  std::vector<int64_t> steps;
  for (const RankLastSeen& rank : ranks) {
    if (!rank.progress_step) return std::nullopt;
    steps.push_back(*rank.progress_step);
  }
  std::sort(steps.begin(), steps.end());
  const auto* last = only_one(ranks, [&](auto& rank) { return *rank.progress_step == steps[0]; });
  if (last == nullptr) return std::nullopt;
  return HangSuspect{last->rank,
                     fmt::format("is at step {}, the others at {} or later", steps[0], steps[1])};
}

// Ranks that wait for another spin on their GPUs; the one they wait for does not.
std::optional<HangSuspect> idle_among_busy(const std::vector<RankLastSeen>& ranks) {
  const auto percent = [](const RankLastSeen& rank) { return rank.gpu_utilization_percent; };
  const auto busy = std::count_if(ranks.begin(), ranks.end(), [&](auto& rank) {
    return percent(rank) && *percent(rank) >= kBusyPercent;
  });
  if (busy != static_cast<std::ptrdiff_t>(ranks.size()) - 1) return std::nullopt;
  const auto* idle =
      only_one(ranks, [&](auto& rank) { return percent(rank) && *percent(rank) <= kIdlePercent; });
  if (idle == nullptr) return std::nullopt;
  return HangSuspect{idle->rank, fmt::format("its GPUs are idle while those of all others spin")};
}

std::optional<HangSuspect> silent_first(const std::vector<RankLastSeen>& ranks) {
  std::vector<UnixTime> words;
  for (const RankLastSeen& rank : ranks) {
    if (!rank.last_word_at) return std::nullopt;
    words.push_back(*rank.last_word_at);
  }
  std::sort(words.begin(), words.end());
  if (words[1] - words[0] < kClearlyEarlier) return std::nullopt;
  const auto* first = only_one(ranks, [&](auto& rank) { return *rank.last_word_at == words[0]; });
  return HangSuspect{first->rank, fmt::format("fell silent {} before any other",
                                              format_duration(words[1] - words[0]))};
}

}  // namespace

std::string_view to_string(HangSignKind kind) {
  switch (kind) {
    case HangSignKind::no_progress:
      return "no_progress";
    case HangSignKind::silent_log:
      return "silent_log";
    case HangSignKind::gpu_idle:
      return "gpu_idle";
    case HangSignKind::network_quiet:
      return "network_quiet";
    case HangSignKind::cpu_idle:
      return "cpu_idle";
  }
  return "unknown";
}

HangSource source_of(HangSignKind kind) {
  switch (kind) {
    case HangSignKind::no_progress:
    case HangSignKind::silent_log:
      return HangSource::words;
    case HangSignKind::gpu_idle:
      return HangSource::gpu;
    case HangSignKind::network_quiet:
      return HangSource::network;
    case HangSignKind::cpu_idle:
      return HangSource::cpu;
  }
  return HangSource::words;
}

std::vector<HangSign> hang_signs(const RankActivity& rank, const HangLimits& limits, MonoTime now) {
  if (limits.patience <= Duration::zero()) return {};
  Signs signs(rank, limits, now);
  signs.add_words();
  signs.add_gpu();
  signs.add_network();
  signs.add_cpu();
  return signs.take();
}

void forget_old_samples(RankActivity& rank, const HangLimits& limits, MonoTime now) {
  auto& samples = rank.samples;
  size_t old = 0;
  while (old < samples.size() && now - samples[old].at > limits.patience) ++old;
  // The oldest of all stays too: since it, the counters' growth tells whether the network was used.
  if (old > 2) samples.erase(samples.begin() + 1, samples.begin() + static_cast<long>(old) - 1);
}

std::optional<HangSuspect> find_hang_suspect(const std::vector<RankLastSeen>& ranks) {
  if (ranks.size() < 2) return std::nullopt;
  if (auto suspect = behind_in_steps(ranks)) return suspect;
  if (auto suspect = idle_among_busy(ranks)) return suspect;
  return silent_first(ranks);
}

}  // namespace hai
