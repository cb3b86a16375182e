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
constexpr size_t kYoung = 24;  // of the corpus: the latest, chosen more often

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

  const WorldPlan& parent() {
    const size_t young = std::min(kYoung, corpus_.size());
    if (rng_.chance(0.5)) return corpus_[corpus_.size() - 1 - rng_.below(young)];
    return corpus_[rng_.below(corpus_.size())];
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
    if (options_.learns && reached_.add(coverage) > 0) {
      corpus_.push_back(world);
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
  std::vector<WorldPlan> corpus_;
  Hunted hunted_;
};

}  // namespace

Hunted hunt(const HuntOptions& options) { return Hunt(options).run(); }

}  // namespace hai
