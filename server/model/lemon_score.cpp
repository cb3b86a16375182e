#include "server/model/lemon_score.h"

#include <fmt/core.h>

#include <map>

namespace hai {
namespace {

// The first word of a mark's kind.
std::string_view word_of(std::string_view kind) { return kind.substr(0, kind.find(' ')); }

int weight_of(std::string_view word) {
  if (word == kMarkEvicted || word == kMarkDrained || word == kMarkInvalid) return 3;
  if (word == kMarkGang) return 2;
  if (word == kMarkDoubted || word == kMarkSingle) return 1;
  return 0;
}

}  // namespace

LemonScore lemon_score(const NodeHealth& health, UnixTime now) {
  LemonScore result;
  std::map<std::string_view, int> counts;
  for (const NodeMark& mark : health.marks) {
    if (now - mark.at > kLemonWindow) continue;
    const std::string_view word = word_of(mark.kind);
    if (word == kMarkAccepted) result.score = 0, counts.clear();
    if (weight_of(word) == 0) continue;
    result.score += weight_of(word);
    ++counts[word];
  }
  for (const auto& [word, count] : counts) {
    result.explanation +=
        fmt::format("{}{} {}", result.explanation.empty() ? "" : ", ", count, word);
  }
  if (!counts.empty()) result.explanation += " in 28 days";
  return result;
}

}  // namespace hai
