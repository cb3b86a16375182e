#include "server/plan/run_times.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hai {
namespace {

constexpr double kBinsPerDoubling = 4;
constexpr Duration kShortestRunTime = 10min;  // what a job that has just begun is taken to have run

double seconds_of(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }
Duration duration_of(double seconds) { return Duration(static_cast<int64_t>(seconds * 1e6)); }

double bin_of(Duration ran) { return kBinsPerDoubling * std::log2(std::max(1.0, seconds_of(ran))); }
double bin_start(double bin) { return std::exp2(bin / kBinsPerDoubling); }

int size_class(int gpus) { return std::bit_width(static_cast<unsigned>(std::max(0, gpus))); }

}  // namespace

void RunTimeHistogram::add(Duration ran) {
  const int bin = std::min(kBins - 1, static_cast<int>(bin_of(ran)));
  ++counts_[bin];
  if (++total_ < kCountMax) return;
  total_ = 0;
  for (uint16_t& count : counts_) total_ += count = static_cast<uint16_t>((count + 1) / 2);
}

int64_t RunTimeHistogram::longer_than(Duration ran) const {
  int64_t count = 0;
  for (int bin = static_cast<int>(bin_of(ran)) + 1; bin < kBins; ++bin) count += counts_[bin];
  return count;
}

Duration RunTimeHistogram::quantile(Duration ran, double rank) const {
  const int first = static_cast<int>(bin_of(ran)) + 1;
  const double wanted = rank * static_cast<double>(longer_than(ran));
  double below = 0;
  for (int bin = first; bin < kBins; ++bin) {
    if (counts_[bin] == 0) continue;
    if (below + counts_[bin] >= wanted) {
      return duration_of(bin_start(bin + (wanted - below) / counts_[bin]));
    }
    below += counts_[bin];
  }
  return std::max(ran, duration_of(bin_start(kBins)));
}

void RunTimes::add(const std::string& user, const std::string& group, int gpus, Duration ran) {
  if (ran <= Duration{0}) return;
  ++count_;
  all_.add(ran);
  for (const Key& key : {Key(user, group, size_class(gpus)), Key("", group, size_class(gpus))}) {
    auto it = histograms_.find(key);
    if (it == histograms_.end()) {
      if (histograms_.size() >= kKeysMax) continue;
      it = histograms_.emplace(key, RunTimeHistogram()).first;
    }
    it->second.add(ran);
  }
}

Duration RunTimes::residual(const std::string& user, const std::string& group, int gpus,
                            Duration ran, double rank) const {
  auto from = [&](const RunTimeHistogram& histogram) {
    return std::max(Duration{0}, histogram.quantile(ran, rank) - ran);
  };
  for (const Key& key : {Key(user, group, size_class(gpus)), Key("", group, size_class(gpus))}) {
    auto it = histograms_.find(key);
    if (it != histograms_.end() && it->second.longer_than(ran) >= kEnough) return from(it->second);
  }
  if (all_.longer_than(ran) >= kEnough) return from(all_);
  const double age = seconds_of(std::max(ran, kShortestRunTime));
  return duration_of(age * rank / std::max(1.0 - rank, 0.01));
}

int gpus_asked(const ClusterState& state, const Job& job) {
  const int per_node = job.spec->gpus_per_node;
  if (!job.spec->asks_gpus()) return 0;
  return job.spec->node_count *
         (per_node == 0 ? state.gpus_of_largest_node(job.spec->group) : per_node);
}

}  // namespace hai
