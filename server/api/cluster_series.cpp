#include "server/api/cluster_series.h"

#include <algorithm>

#include "server/api/queries.h"

namespace hai {

namespace {

UnixTime start_of(UnixTime at, Duration step) {
  return unix_micros(to_micros(at) / step.count() * step.count());
}

}  // namespace

void ClusterSeries::add(const ClusterSample& sample) {
  for (Ring& ring : rings_) add_to(ring, sample);
}

// A stretch is put away when the first sample of the next one comes.
void ClusterSeries::add_to(Ring& ring, const ClusterSample& sample) {
  const UnixTime start = start_of(sample.at, ring.step);
  if (ring.count > 0 && ring.sum.at != start) {
    ClusterSample average = ring.sum;
    for (double& value : average.values) value /= ring.count;
    if (ring.samples.empty() || ring.samples.back().at < average.at) {
      ring.samples.push_back(average);
      if (ring.step == Duration(1min) && store_ != nullptr) store_->save(average, kWindowMax);
    }
    if (ring.samples.size() > ring.size) ring.samples.pop_front();
    ring.count = 0;
  }
  if (ring.count++ == 0) ring.sum = {.at = start};
  for (size_t i = 0; i < sample.values.size(); ++i) ring.sum.values[i] += sample.values[i];
}

ClusterSeries::Window ClusterSeries::window(UnixTime now, Duration length) const {
  const auto covers = [length](const Ring& ring) {
    return ring.step * static_cast<int64_t>(ring.size) >= length;
  };
  const auto found = std::ranges::find_if(rings_, covers);
  const Ring& ring = found == rings_.end() ? rings_.back() : *found;
  Window window{.step = ring.step};
  for (const ClusterSample& sample : ring.samples) {
    if (sample.at >= now - length) window.samples.push_back(sample);
  }
  return window;
}

void ClusterSeries::load(UnixTime now) {
  if (store_ == nullptr) return;
  for (size_t i = 1; i < rings_.size(); ++i) {
    const Ring& ring = rings_[i];
    store_->load(now - ring.step * static_cast<int64_t>(ring.size), ring.step,
                 scope_.bind([this, i](Result<std::vector<ClusterSample>> samples) {
                   if (samples.is_ok()) merge(rings_[i], std::move(samples).value());
                 }));
  }
}

// What this server has seen itself wins.
void ClusterSeries::merge(Ring& ring, std::vector<ClusterSample> older) {
  std::erase_if(older, [&ring](const ClusterSample& sample) {
    const auto same = std::ranges::lower_bound(ring.samples, sample.at, {}, &ClusterSample::at);
    return (same != ring.samples.end() && same->at == sample.at) ||
           (ring.count > 0 && sample.at >= ring.sum.at);
  });
  ring.samples.insert(ring.samples.end(), older.begin(), older.end());
  std::ranges::sort(ring.samples, {}, &ClusterSample::at);
  while (ring.samples.size() > ring.size) ring.samples.pop_front();
}

ClusterSample sample_of(const ClusterSummary& summary, UnixTime now) {
  const ClusterView& view = summary.view;
  const auto jobs = [&summary](const char* state) {
    return static_cast<double>(summary.jobs(state));
  };
  // In the order of kSampleWords.
  return {
      .at = now,
      .values = {static_cast<double>(view.gpus_total), static_cast<double>(summary.gpus_working()),
                 static_cast<double>(view.gpus_free), static_cast<double>(view.gpus_held),
                 static_cast<double>(summary.gpus_draining),
                 static_cast<double>(summary.gpus_not_up()), jobs("running"), jobs("queued"),
                 jobs("suspended")}};
}

}  // namespace hai
