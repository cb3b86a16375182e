#include "server/plan/estimate_calibration.h"

#include <algorithm>
#include <cmath>

namespace hai {
namespace {

constexpr double kMissesWanted = 0.1;
constexpr double kStep = 0.15;
constexpr double kLogMax = 7;        // a factor of a thousand
constexpr Duration kShortest = 10s;  // nothing is promised sooner: a pass and a save take that

}  // namespace

double EstimateCalibration::factor() const { return std::exp(log_factor_); }

Duration EstimateCalibration::widened(Duration forecast_p90) const {
  const auto base = static_cast<double>(std::max(forecast_p90, kShortest).count());
  return Duration(static_cast<int64_t>(base * factor()));
}

void EstimateCalibration::observe(Duration promised, Duration took) {
  const bool is_miss = took > promised;
  ++(is_miss ? misses_ : hits_);
  log_factor_ += kStep * ((is_miss ? 1.0 : 0.0) - kMissesWanted);
  log_factor_ = std::clamp(log_factor_, -kLogMax, kLogMax);
}

}  // namespace hai
