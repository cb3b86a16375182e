#pragma once
// Mean and quantiles of a list of numbers.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace hai {

struct Distribution {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double max = 0;
};

// Quantile q is the smallest value that at least q of the values do not exceed. Zeros for none.
template <typename Number>
Distribution distribution_of(std::vector<Number> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  auto quantile = [&](double q) {
    auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(values.size())));
    return static_cast<double>(values[std::max<size_t>(rank, 1) - 1]);
  };
  double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {.mean = sum / static_cast<double>(values.size()),
          .p50 = quantile(0.5),
          .p90 = quantile(0.9),
          .p99 = quantile(0.99),
          .max = static_cast<double>(values.back())};
}

}  // namespace hai
