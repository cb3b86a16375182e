#include "server/api/usage_board.h"

#include <fmt/core.h>

#include <algorithm>

namespace hai {

namespace {

constexpr size_t kRecent = 6;       // points that say how busy a rank is now
constexpr int kBusyMin = 20;        // percent of the median rank, below which idleness says nothing
constexpr size_t kComparedMin = 3;  // ranks; of two nobody knows which one is slow

int8_t mean_of(const Session* session, const GpuSet& gpus, std::optional<int> GpuReading::*what) {
  if (session == nullptr) return -1;
  int sum = 0;
  int known = 0;
  for (size_t i = 0; i < session->gpu_readings.size(); ++i) {
    const auto& percent = session->gpu_readings[i].*what;
    if (!percent || !gpus.contains(static_cast<int>(i))) continue;
    sum += *percent;
    ++known;
  }
  return static_cast<int8_t>(known == 0 ? -1 : sum / known);
}

const RankStatus* status_of(const Session* session, const RankKey& key) {
  if (session == nullptr) return nullptr;
  const auto found = session->ranks.find(key);
  return found == session->ranks.end() ? nullptr : &found->second;
}

template <typename T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// -1 if none of the last points is known.
int recent_busy(const RankLine& rank) {
  int sum = 0;
  int known = 0;
  const size_t from = rank.gpu_percent.size() - std::min(kRecent, rank.gpu_percent.size());
  for (size_t i = from; i < rank.gpu_percent.size(); ++i) {
    if (rank.gpu_percent[i] < 0) continue;
    sum += rank.gpu_percent[i];
    ++known;
  }
  return known == 0 ? -1 : sum / known;
}

template <typename T>
void keep_every_second(std::vector<T>& values) {
  for (size_t i = 0; 2 * i < values.size(); ++i) values[i] = values[2 * i];
  values.resize((values.size() + 1) / 2);
}

}  // namespace

void UsageBoard::note(UnixTime now, const ClusterState& state, const Sessions& sessions) {
  lines_touched_ = 0;
  drop_gone(state);
  int budget = kRanksAtOnce;
  const auto& live = state.live();
  auto it = live.upper_bound(looked_to_);
  for (size_t i = 0; i < live.size() && budget > 0; ++i, ++it) {
    if (it == live.end()) it = live.begin();
    looked_to_ = *it;
    const Job& job = *state.find(*it);
    if (!job.attempt->running_at) continue;
    budget -= static_cast<int>(job.attempt->ranks.size());
    add(line_of(job), now, job, state, sessions);
  }
  make_room();
}

void UsageBoard::forget() {
  lines_.clear();
  by_seen_.clear();
  values_ = 0;
}

UsageBoard::Line& UsageBoard::line_of(const Job& job) {
  ++lines_touched_;
  const Key key{job.id, job.attempt->number};
  const auto [found, is_new] = lines_.try_emplace(key);
  Line& line = found->second;
  if (is_new) {
    line.seen = by_seen_.insert(by_seen_.end(), key);
  } else {
    by_seen_.splice(by_seen_.end(), by_seen_, line.seen);
  }
  return line;
}

void UsageBoard::add(Line& line, UnixTime now, const Job& job, const ClusterState& state,
                     const Sessions& sessions) {
  if (++line.skipped < line.every) return;
  line.skipped = 0;
  const std::vector<Rank>& ranks = job.attempt->ranks;
  if (line.ranks.empty()) {
    for (size_t i = 0; i < ranks.size(); ++i) {
      const Node* node = state.find(ranks[i].place.node);
      line.ranks.push_back(
          {.rank = static_cast<int>(i), .node = node == nullptr ? "" : node->facts.name});
    }
  }
  line.at.push_back(now);
  for (RankLine& each : line.ranks) {
    // An attempt does not lose ranks; were it to, nothing would be known of them.
    const bool is_there = static_cast<size_t>(each.rank) < ranks.size();
    const RankPlacement* place = is_there ? &ranks[each.rank].place : nullptr;
    const Session* session = is_there ? sessions.find(place->node) : nullptr;
    // What was given back may be another job's by now.
    const Session* holder = is_there && ranks[each.rank].holds_place() ? session : nullptr;
    const GpuSet gpus = is_there ? place->gpus : GpuSet();
    each.gpu_percent.push_back(mean_of(holder, gpus, &GpuReading::utilization_percent));
    each.gpu_memory_percent.push_back(mean_of(holder, gpus, &GpuReading::memory_percent));
    const RankStatus* status = status_of(session, {job.id, job.attempt->number, each.rank});
    each.steps.push_back(status == nullptr ? -1 : status->progress_step.value_or(-1));
    if (status == nullptr || status->metrics.empty()) continue;
    if (line.metrics_rank < 0) line.metrics_rank = each.rank;
    if (line.metrics_rank == each.rank) add_metrics(line, now, *status);
  }
  if (line.at.size() > kPointsMax) {
    keep_every_second(line.at);
    for (RankLine& each : line.ranks) {
      keep_every_second(each.gpu_percent);
      keep_every_second(each.gpu_memory_percent);
      keep_every_second(each.steps);
    }
    line.every *= 2;
  }
  values_ -= line.values;
  line.values = count_values(line);
  values_ += line.values;
}

void UsageBoard::add_metrics(Line& line, UnixTime now, const RankStatus& status) {
  for (const auto& [name, value] : status.metrics) {
    if (line.metrics.size() >= kRankMetricsMax && !line.metrics.contains(name)) continue;
    MetricLine& metric = line.metrics[name];
    metric.at.push_back(now);
    metric.values.push_back(value);
    if (metric.at.size() <= kPointsMax) continue;
    keep_every_second(metric.at);
    keep_every_second(metric.values);
  }
}

size_t UsageBoard::count_values(const Line& line) {
  size_t values = line.ranks.size() * line.at.size();
  for (const auto& [name, metric] : line.metrics) values += metric.at.size();
  return values;
}

// Goes round all lines in many calls.
void UsageBoard::drop_gone(const ClusterState& state) {
  auto it = lines_.upper_bound(checked_to_);
  for (size_t left = std::min(lines_.size(), kLinesAtOnce); left > 0; --left) {
    if (it == lines_.end()) it = lines_.begin();
    ++lines_touched_;
    checked_to_ = it->first;
    it = state.find(it->first.first) == nullptr ? drop(it) : std::next(it);
  }
}

void UsageBoard::make_room() {
  while ((values_ > values_max_ || lines_.size() > lines_max_) && lines_.size() > 1) {
    ++lines_touched_;
    drop(lines_.find(by_seen_.front()));
  }
}

UsageBoard::Lines::iterator UsageBoard::drop(Lines::iterator line) {
  values_ -= line->second.values;
  by_seen_.erase(line->second.seen);
  return lines_.erase(line);
}

UsageLines UsageBoard::usage(JobId job, int attempt) const {
  UsageLines usage;
  const Line* line = nullptr;
  for (auto it = lines_.lower_bound({job, 0}); it != lines_.end() && it->first.first == job; ++it) {
    if (it->second.at.empty()) continue;
    usage.attempts.push_back(it->first.second);
    if (attempt != 0 && it->first.second != attempt) continue;
    usage.attempt = it->first.second;
    line = &it->second;
  }
  if (line == nullptr) return usage;
  usage.at = line->at;
  usage.ranks = line->ranks;
  usage.metrics_rank = line->metrics_rank;
  usage.metrics = line->metrics;
  return usage;
}

std::vector<StragglingRank> find_stragglers(const std::vector<RankLine>& ranks) {
  std::vector<int64_t> steps;
  std::vector<int> busy;
  for (const RankLine& rank : ranks) {
    if (!rank.steps.empty() && rank.steps.back() >= 0) steps.push_back(rank.steps.back());
    if (const int percent = recent_busy(rank); percent >= 0) busy.push_back(percent);
  }
  const int64_t usual_step = steps.size() < kComparedMin ? -1 : median(steps);
  const int usual_busy = busy.size() < kComparedMin ? -1 : median(busy);
  // What ranks differ by that report at different moments is no sign.
  const int64_t slack = std::max<int64_t>(2, usual_step / 50);
  std::vector<std::pair<double, StragglingRank>> found;
  for (const RankLine& rank : ranks) {
    const int64_t step = rank.steps.empty() ? -1 : rank.steps.back();
    const int percent = recent_busy(rank);
    if (usual_step >= 0 && step >= 0 && step + slack < usual_step) {
      found.emplace_back(
          2.0 - static_cast<double>(step) / static_cast<double>(usual_step),
          StragglingRank{rank.rank, rank.node,
                         fmt::format("at step {}, the middle rank at {}", step, usual_step)});
    } else if (usual_busy >= kBusyMin && percent >= 0 && percent * 2 < usual_busy) {
      found.emplace_back(
          1.0 - static_cast<double>(percent) / usual_busy,
          StragglingRank{
              rank.rank, rank.node,
              fmt::format("its GPUs are {} % busy, the middle rank's {} %", percent, usual_busy)});
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater{},
                           &std::pair<double, StragglingRank>::first);
  std::vector<StragglingRank> stragglers;
  for (auto& [how, rank] : found) stragglers.push_back(std::move(rank));
  return stragglers;
}

std::optional<double> seconds_per_step(const UsageLines& usage) {
  std::optional<double> least;
  for (const RankLine& rank : usage.ranks) {
    size_t first = 0;
    while (first < rank.steps.size() && rank.steps[first] < 0) ++first;
    if (first >= rank.steps.size()) continue;
    const int64_t steps = rank.steps.back() - rank.steps[first];
    const Duration took = usage.at[rank.steps.size() - 1] - usage.at[first];
    if (steps <= 0) continue;
    const double each = static_cast<double>(took.count()) / 1e6 / static_cast<double>(steps);
    if (!least || each < *least) least = each;
  }
  return least;
}

}  // namespace hai
