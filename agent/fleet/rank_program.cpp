#include "agent/fleet/rank_program.h"

#include <cmath>
#include <cstdlib>

#include "common/shell_words.h"

namespace hai {

namespace {

constexpr double kSecondsMax = 1e9;
constexpr Duration kValidationLength = 1s;

// As sleep(1) reads them: a number, perhaps broken, and s, m, h or d.
std::optional<double> seconds_of(const std::string& word) {
  char* end = nullptr;
  const double number = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string unit(end);
  if (unit.empty() || unit == "s") return number;
  if (unit == "m") return number * 60;
  if (unit == "h") return number * 3'600;
  if (unit == "d") return number * 86'400;
  return std::nullopt;
}

RankProgram sleep_of(const std::string& parameters) {
  const RankProgram refused{.length = Duration(0), .exit_code = 1};
  const Result<std::vector<std::string>> words = split_parameters(parameters);
  if (!words.is_ok() || words.value().empty()) return refused;
  double seconds = 0;
  for (const std::string& word : words.value()) {
    const std::optional<double> part = seconds_of(word);
    if (!part) return refused;
    seconds += *part;
  }
  seconds = std::min(seconds, kSecondsMax);
  return {.length = Duration(static_cast<int64_t>(seconds * 1e6))};
}

}  // namespace

RankProgram program_of(const LaunchRank& order, std::optional<Duration> other_length) {
  if (order.is_validation) return {.length = kValidationLength};
  const std::string name = order.entrypoint.substr(order.entrypoint.rfind('/') + 1);
  if (name == "sleep") return sleep_of(order.parameters);
  if (name == "true") return {.length = Duration(0)};
  if (name == "false") return {.length = Duration(0), .exit_code = 1};
  return {.length = other_length};
}

}  // namespace hai
