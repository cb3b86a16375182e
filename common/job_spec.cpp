#include "common/job_spec.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/nearest.h"
#include "common/whole_number.h"

namespace hai {

std::string_view to_string(Priority priority) {
  switch (priority) {
    case Priority::automatic:
      return "auto";
    case Priority::low:
      return "low";
    case Priority::below_normal:
      return "below_normal";
    case Priority::under_normal:
      return "under_normal";
    case Priority::normal:
      return "normal";
    case Priority::above_normal:
      return "above_normal";
    case Priority::high:
      return "high";
    case Priority::very_high:
      return "very_high";
    case Priority::extreme_high:
      return "extreme_high";
  }
  return "unknown";
}

Result<Priority> parse_priority(std::string_view text) {
  // HAI writes the words in capitals.
  std::string word(text.substr(0, 32));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::optional<int> number = whole_number<int>(word);
  const auto matches = [&](Priority priority) {
    return number ? *number == static_cast<int>(priority) : word == to_string(priority);
  };
  if (matches(Priority::automatic)) return Priority::automatic;
  std::string allowed;
  std::vector<std::string> words = {"auto"};
  for (const Priority priority : kPriorities) {
    if (matches(priority)) return priority;
    words.emplace_back(to_string(priority));
    allowed += fmt::format("{} ({}), ", to_string(priority), static_cast<int>(priority));
  }
  const std::string near = number ? "" : nearest(word, words);
  return invalid_argument("unknown priority '{}'{}, must be one of {}auto (-1)", text.substr(0, 64),
                          near.empty() ? "" : fmt::format(": did you mean {}?", near), allowed);
}

std::string_view to_string(LaunchMode mode) {
  switch (mode) {
    case LaunchMode::per_node:
      return "per_node";
    case LaunchMode::per_gpu:
      return "per_gpu";
  }
  return "unknown";
}

std::string_view to_string(EnvStyle style) {
  switch (style) {
    case EnvStyle::hai:
      return "hai";
    case EnvStyle::torch:
      return "torch";
    case EnvStyle::slurm:
      return "slurm";
  }
  return "unknown";
}

std::string_view to_string(CrossZone cross_zone) {
  switch (cross_zone) {
    case CrossZone::allow:
      return "allow";
    case CrossZone::never:
      return "never";
  }
  return "unknown";
}

}  // namespace hai
