#pragma once
// Keeps a promise over estimates that may be wrong: "9 of 10 start before it". Adaptive conformal
// inference (Gibbs & Candès, NeurIPS 2021) on the logarithm of a factor: each miss widens it, each
// hit narrows it by a ninth of that, so that in the long run one in ten misses, whatever is wrong
// with the forecasts.

#include "common/time.h"

namespace hai {

class EstimateCalibration {
 public:
  // The time from now until the job has started with that certainty, from what was forecast.
  Duration widened(Duration forecast_p90) const;
  // What was promised, and how long it took. Of jobs that had to wait.
  void observe(Duration promised, Duration took);

  double factor() const;
  int64_t observed() const { return hits_ + misses_; }
  int64_t hits() const { return hits_; }

 private:
  double log_factor_ = 0;
  int64_t hits_ = 0;
  int64_t misses_ = 0;
};

}  // namespace hai
