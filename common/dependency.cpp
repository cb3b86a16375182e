#include "common/dependency.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/ascii.h"
#include "common/text_check.h"

namespace hai {
namespace {

constexpr size_t kIdDigitsMax = 18;  // fits 64 bits
constexpr size_t kShownMax = 64;
constexpr DependencyCondition kConditions[] = {
    DependencyCondition::afterok, DependencyCondition::afterany,  DependencyCondition::afternotok,
    DependencyCondition::after,   DependencyCondition::aftercorr, DependencyCondition::singleton};

bool names_a_job(std::string_view text) {
  const bool is_word = !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-';
  });
  if (!is_word) return false;
  const bool is_number = std::ranges::all_of(text, is_digit);
  return !is_number || (text.size() <= kIdDigitsMax && text.front() != '0');
}

}  // namespace

std::string_view to_string(DependencyCondition condition) {
  switch (condition) {
    case DependencyCondition::afterok:
      return "afterok";
    case DependencyCondition::afterany:
      return "afterany";
    case DependencyCondition::afternotok:
      return "afternotok";
    case DependencyCondition::after:
      return "after";
    case DependencyCondition::singleton:
      return "singleton";
    case DependencyCondition::aftercorr:
      return "aftercorr";
  }
  return "afterok";
}

Result<DependencyWord> parse_dependency(std::string_view word) {
  const std::string shown = printable(word.substr(0, kShownMax));
  if (word == "singleton") return DependencyWord{DependencyCondition::singleton, ""};
  DependencyWord parsed;
  std::string_view job = word;
  if (const size_t colon = word.find(':'); colon != std::string_view::npos) {
    const std::string_view condition = word.substr(0, colon);
    const auto* known = std::ranges::find(kConditions, condition,
                                          [](DependencyCondition each) { return to_string(each); });
    if (condition == "singleton") {
      return invalid_argument("'{}': singleton names no job: it waits for those of the same name",
                              shown);
    }
    if (known == std::end(kConditions)) {
      return invalid_argument("'{}': the condition must be {}", shown, kDependencyConditions);
    }
    parsed.condition = *known;
    job = word.substr(colon + 1);
  }
  if (!names_a_job(job)) {
    return invalid_argument("must be the name or id of a job, or CONDITION:JOB, is '{}'", shown);
  }
  parsed.job = job;
  return parsed;
}

std::string format_dependency(const DependencyWord& dependency) {
  switch (dependency.condition) {
    case DependencyCondition::afterok:
      return dependency.job;
    case DependencyCondition::singleton:
      return "singleton";
    default:
      return fmt::format("{}:{}", to_string(dependency.condition), dependency.job);
  }
}

}  // namespace hai
