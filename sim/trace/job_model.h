#pragma once
// What a trace does not say of a job: how it saves and restarts. Drawn from the seed and the job's
// place in the trace, the same on every machine.

#include <algorithm>

#include "common/rng.h"
#include "common/time.h"

namespace hai {

struct JobModel {
  Duration checkpoint_period{0};
  Duration save{0};     // from the request to suspend until it has left
  Duration restart{0};  // from running again until it works again
  bool saves_when_asked = true;
};

inline JobModel job_model(uint64_t seed, int job, double saves_when_asked) {
  Rng rng(Rng(seed).next() + static_cast<uint64_t>(job));
  JobModel model;
  model.checkpoint_period = std::chrono::minutes(rng.between(5, 30));
  model.save = std::chrono::seconds(rng.between(2, 20));
  model.restart = std::chrono::seconds(rng.between(10, 60));
  model.saves_when_asked = rng.chance(saves_when_asked);
  return model;
}

// From the order to launch until the program runs.
inline constexpr Duration kLaunchDelay = 1s;

}  // namespace hai
