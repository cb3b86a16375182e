#include "common/node_filter.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/agent_messages.h"
#include "common/ascii.h"
#include "common/hostlist.h"

namespace hai {
namespace {

bool is_word_char(char c) { return is_letter(c) || is_digit(c); }

// Of letters in either case; what stands between words counts as one blank.
bool is_same(char a, char b) {
  if (!is_word_char(a) || !is_word_char(b)) return is_word_char(a) == is_word_char(b);
  return to_lower(a) == to_lower(b);
}

}  // namespace

bool is_gpu_type(std::string_view type, std::string_view model) {
  if (type.empty() || type.size() > model.size()) return false;
  for (size_t at = 0; at + type.size() <= model.size(); ++at) {
    const size_t end = at + type.size();
    if (at > 0 && is_word_char(model[at - 1]) && is_word_char(model[at])) continue;
    if (end < model.size() && is_word_char(model[end]) && is_word_char(model[end - 1])) continue;
    if (std::ranges::equal(type, model.substr(at, type.size()), is_same)) return true;
  }
  return false;
}

bool has_label(const NodeFacts& facts, std::string_view label) {
  return std::ranges::find(facts.labels, label) != facts.labels.end() ||
         is_gpu_type(label, facts.gpu_model);
}

bool NodeFilter::takes(const NodeFacts& facts) const {
  if (!gpu_type.empty() && !is_gpu_type(gpu_type, facts.gpu_model)) return false;
  if (!std::ranges::all_of(labels, [&](const auto& label) { return has_label(facts, label); })) {
    return false;
  }
  if (!nodes.empty() && !is_in_hostlist(facts.name, nodes)) return false;
  return exclude.empty() || !is_in_hostlist(facts.name, exclude);
}

std::string filter_text(const NodeFilter& filter) {
  std::vector<std::string> parts;
  constexpr size_t kListShown = 128;  // of a host list, which may have thousands of names
  const auto shown = [](const std::string& list) {
    return list.size() <= kListShown ? list : list.substr(0, kListShown) + "...";
  };
  if (!filter.gpu_type.empty()) parts.push_back("GPU type " + filter.gpu_type);
  if (!filter.labels.empty()) {
    parts.push_back(fmt::format("label{} {}", filter.labels.size() == 1 ? "" : "s",
                                fmt::join(filter.labels, " and ")));
  }
  if (!filter.nodes.empty()) parts.push_back("only " + shown(filter.nodes));
  if (!filter.exclude.empty()) parts.push_back("not " + shown(filter.exclude));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace hai
