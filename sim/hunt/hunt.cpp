#include "sim/hunt/hunt.h"

#include <algorithm>
#include <utility>

#include "sim/hunt/breed.h"
#include "sim/hunt/coverage.h"

namespace hai {
namespace {

// So many fresh worlds come first, and later one in so many: what is learnt is not all there is.
constexpr int64_t kFreshFirst = 40;
constexpr double kFreshLater = 0.2;
constexpr int kEnough = 4;  // of what is new, to be kept
constexpr int kRivals = 3;

class Hunt {
 public:
  explicit Hunt(const HuntOptions& options) : options_(options), rng_(options.seed) {}

  Hunted run() {
    for (const WorldPlan& world : options_.corpus) {
      if (!goes_on() || try_out(world)) return result();
    }
    while (goes_on()) {
      if (try_out(next())) break;
    }
    return result();
  }

 private:
  bool goes_on() const {
    if (hunted_.worlds >= options_.worlds) return false;
    return !options_.goes_on || options_.goes_on(hunted_.worlds, reached_.pairs(), corpus_.size());
  }

  // The best of a few: who reached most that was new.
  const WorldPlan& parent() {
    size_t best = rng_.below(corpus_.size());
    for (int left = kRivals; left > 0; --left) {
      const size_t other = rng_.below(corpus_.size());
      if (corpus_[other].score > corpus_[best].score) best = other;
    }
    // Whoever had children makes room for others.
    corpus_[best].score *= 0.9;
    return corpus_[best].world;
  }

  WorldPlan next() {
    const bool is_fresh = !options_.learns || corpus_.empty() || hunted_.worlds < kFreshFirst ||
                          rng_.chance(kFreshLater);
    if (is_fresh) return fresh_world(rng_);
    const WorldPlan& first = parent();
    return child_of(first, parent(), rng_);
  }

  // Whether it is what we look for.
  bool try_out(const WorldPlan& world) {
    Coverage coverage;
    ChaosOptions chaos = options_.chaos;
    if (options_.learns) {
      chaos.on_moment = [&](const Moment& moment, World& at) { coverage.see(moment, at); };
      chaos.on_deed = [&](const Deed& deed, World& at) { coverage.see(deed, at); };
    }
    if (options_.before) options_.before(world);
    const ChaosResult result = run_world(world, chaos);
    ++hunted_.worlds;
    if (result.violation) {
      const bool is_known = std::ranges::any_of(options_.known, [&](const std::string& text) {
        return result.violation->find(text) != std::string::npos;
      });
      if (!is_known) {
        hunted_.world = world;
        hunted_.violation = *result.violation;
        return true;
      }
      ++hunted_.known;
      return false;
    }
    const int fresh = options_.learns ? reached_.add(coverage) : 0;
    if (fresh >= kEnough) {
      corpus_.push_back({world, static_cast<double>(fresh)});
      if (options_.kept) options_.kept(world);
    }
    return false;
  }

  Hunted result() {
    hunted_.pairs = reached_.pairs();
    hunted_.kept = corpus_.size();
    return std::move(hunted_);
  }

  const HuntOptions& options_;
  Rng rng_;
  Reached reached_;
  struct Kept {
    WorldPlan world;
    double score;
  };
  std::vector<Kept> corpus_;
  Hunted hunted_;
};

}  // namespace

Hunted hunt(const HuntOptions& options) { return Hunt(options).run(); }

}  // namespace hai
