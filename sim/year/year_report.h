#pragma once
// A year's result for programs (JSON) and for people (a table).

#include <string>

#include "sim/year/year_measures.h"

namespace hai {

struct YearReport {
  int nodes = 0;
  int gpus_per_node = 0;
  uint64_t seed = 1;
  std::string failures;  // "" = Fire-Flyer's rates
  YearMeasures measures;
  double wall_s = 0;
  double peak_rss_mb = 0;
};

std::string to_json(const YearReport& report);
std::string to_table(const YearReport& report);

}  // namespace hai
