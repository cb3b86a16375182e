#include "common/hostlist.h"

#include <algorithm>
#include <charconv>
#include <compare>
#include <cstdint>
#include <iterator>

#include "common/ascii.h"

namespace hai {
namespace {

constexpr size_t kDigitsMax = 18;  // such numbers fit int64_t
constexpr size_t kTextMax = 4u << 20;
constexpr size_t kNameMax = 255;

bool is_name_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
         c == '.';
}

Status bad(std::string_view text, std::string_view why) {
  return invalid_argument("host list '{}': {}", text.substr(0, 128), why);
}

std::string padded(int64_t number, size_t width) { return fmt::format("{:0{}}", number, width); }

Status too_long(std::string_view whole) {
  return bad(whole, fmt::format("a name is longer than {} characters", kNameMax));
}

Status too_many(std::string_view whole, size_t names_max) {
  return bad(whole, fmt::format("more than {} names", names_max));
}

// "1-4" as its two ends, "7" as 7 and 7. What is no number is judged by who reads it.
std::pair<std::string_view, std::string_view> ends_of(std::string_view range) {
  const size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  return {first, dash == std::string_view::npos ? first : range.substr(dash + 1)};
}

int64_t number_of(std::string_view digits) {
  int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// "1-4,7" to its numbers as text.
Result<std::vector<std::string>> parse_ranges(std::string_view text, std::string_view whole,
                                              size_t names_max) {
  std::vector<std::string> numbers;
  while (true) {
    const std::string_view item = text.substr(0, text.find(','));
    const auto [first, last] = ends_of(item);
    for (const std::string_view part : {first, last}) {
      if (part.empty() || part.size() > kDigitsMax ||
          !std::all_of(part.begin(), part.end(), is_digit)) {
        return bad(whole, "brackets hold numbers and ranges, like [1-4,7]");
      }
    }
    const int64_t low = number_of(first);
    const int64_t high = number_of(last);
    if (high < low) return bad(whole, fmt::format("range {} runs backwards", item));
    if (static_cast<uint64_t>(high - low) >= names_max - numbers.size()) {
      return too_many(whole, names_max);
    }
    for (int64_t n = low; n <= high; ++n) numbers.push_back(padded(n, first.size()));
    if (item.size() == text.size()) return numbers;
    text.remove_prefix(item.size() + 1);
  }
}

// One element between top-level commas to its names; names_max with those in `out`.
Status expand(std::string_view element, std::string_view whole, size_t names_max,
              std::vector<std::string>& out) {
  std::vector<std::string> names = {""};
  if (element.empty()) return bad(whole, "an empty name");
  while (!element.empty()) {
    if (element.front() == '[') {
      const size_t end = element.find(']');
      if (end == std::string_view::npos) return bad(whole, "a bracket is not closed");
      const auto numbers = parse_ranges(element.substr(1, end - 1), whole, names_max);
      if (!numbers.is_ok()) return numbers.status();
      element.remove_prefix(end + 1);
      if (out.size() + names.size() * numbers.value().size() > names_max) {
        return too_many(whole, names_max);
      }
      std::vector<std::string> longer;
      longer.reserve(names.size() * numbers.value().size());
      for (const std::string& name : names) {
        for (const std::string& number : numbers.value()) longer.push_back(name + number);
      }
      names = std::move(longer);
    } else {
      size_t end = 0;
      while (end < element.size() && is_name_char(element[end])) ++end;
      if (end == 0) return bad(whole, fmt::format("'{}' is not allowed", element.front()));
      if (names.front().size() + end > kNameMax) return too_long(whole);
      for (std::string& name : names) name.append(element.substr(0, end));
      element.remove_prefix(end);
    }
    if (names.front().size() > kNameMax) return too_long(whole);
  }
  if (out.size() + names.size() > names_max) return too_many(whole, names_max);
  out.insert(out.end(), std::make_move_iterator(names.begin()),
             std::make_move_iterator(names.end()));
  return ok();
}

// Whether digits are one of the numbers in brackets, written as the list pads them.
bool is_in_ranges(std::string_view digits, std::string_view ranges) {
  if (digits.size() > kDigitsMax) return false;
  const int64_t number = number_of(digits);
  while (true) {
    const std::string_view item = ranges.substr(0, ranges.find(','));
    const auto [first, last] = ends_of(item);
    const bool is_padded_so =
        digits.size() == first.size() || (digits.size() > first.size() && digits.front() != '0');
    if (number >= number_of(first) && number <= number_of(last) && is_padded_so) return true;
    if (item.size() == ranges.size()) return false;
    ranges.remove_prefix(item.size() + 1);
  }
}

// An element between top-level commas. What follows a bracket may begin with a digit, so that each
// end of the number is tried.
bool matches(std::string_view name, std::string_view element) {
  while (!element.empty() && element.front() != '[') {
    if (name.empty() || name.front() != element.front()) return false;
    name.remove_prefix(1);
    element.remove_prefix(1);
  }
  if (element.empty()) return name.empty();
  const size_t end = element.find(']');
  if (end == std::string_view::npos) return false;
  const std::string_view ranges = element.substr(1, end - 1);
  for (size_t size = 1; size <= name.size() && is_digit(name[size - 1]); ++size) {
    if (is_in_ranges(name.substr(0, size), ranges) &&
        matches(name.substr(size), element.substr(end + 1))) {
      return true;
    }
  }
  return false;
}

// The element at the front of a list, and the list behind it.
std::string_view take_element(std::string_view& list) {
  size_t end = 0;
  bool in_bracket = false;
  while (end < list.size() && (in_bracket || list[end] != ',')) {
    if (list[end] == '[') in_bracket = true;
    if (list[end] == ']') in_bracket = false;
    ++end;
  }
  const std::string_view element = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return element;
}

Status append_hostlist(std::string_view text, size_t names_max, std::vector<std::string>& names) {
  if (text.size() > kTextMax) {
    return bad(text, fmt::format("{} bytes, at most {} are read", text.size(), kTextMax));
  }
  const std::string_view whole = text;
  while (!text.empty()) {
    const bool ends_with_comma = text.back() == ',';
    RETURN_IF_ERROR(expand(take_element(text), whole, names_max, names));
    if (text.empty() && ends_with_comma) return bad(whole, "an empty name");
  }
  return ok();
}

// A name split at its last number: "node-007.x" is {"node-", ".x", 7, "007"}.
struct SplitName {
  std::string_view prefix;
  std::string_view suffix;
  int64_t number = -1;      // -1: the name has no number
  std::string_view digits;  // as written, with its padding

  bool has_same_frame(const SplitName& other) const {
    return prefix == other.prefix && suffix == other.suffix && (number < 0) == (other.number < 0);
  }
  auto operator<=>(const SplitName&) const = default;
};

SplitName split(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  if (begin == end || end - begin > kDigitsMax) return {name, {}, -1, {}};
  SplitName result = {name.substr(0, begin), name.substr(end), 0, name.substr(begin, end - begin)};
  std::from_chars(name.data() + begin, name.data() + end, result.number);
  return result;
}

std::vector<SplitName> split(const std::vector<std::string>& names) {
  std::vector<SplitName> parts;
  parts.reserve(names.size());
  for (const std::string& name : names) parts.push_back(split(name));
  return parts;
}

// Where the range ends that starts at `begin`: numbers one apart, padded as its first one is.
size_t find_range_end(const std::vector<SplitName>& parts, size_t begin) {
  size_t end = begin + 1;
  while (end < parts.size() && parts[begin].number >= 0 &&
         parts[end].has_same_frame(parts[begin]) &&
         parts[end].number == parts[end - 1].number + 1 &&
         parts[end].digits == padded(parts[end].number, parts[begin].digits.size())) {
    ++end;
  }
  return end;
}

// As a list in this order; what is in one pair of brackets has one frame.
std::string folded(const std::vector<SplitName>& parts) {
  std::string text;
  for (size_t begin = 0; begin < parts.size();) {
    const SplitName& first = parts[begin];
    std::string ranges;
    size_t end = begin;
    while (end < parts.size() && parts[end].has_same_frame(first)) {
      const size_t range_end = find_range_end(parts, end);
      if (!ranges.empty()) ranges += ',';
      ranges += parts[end].digits;
      if (range_end - end > 1) ranges.append("-").append(parts[range_end - 1].digits);
      end = range_end;
      if (first.number < 0) break;
    }
    if (!text.empty()) text += ',';
    text += first.prefix;
    text += end - begin > 1 ? '[' + ranges + ']' : ranges;
    text += first.suffix;
    begin = end;
  }
  return text;
}

}  // namespace

bool is_in_hostlist(std::string_view name, std::string_view list) {
  while (!list.empty()) {
    if (matches(name, take_element(list))) return true;
  }
  return false;
}

bool is_node_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameMax && std::ranges::all_of(name, is_name_char);
}

Result<std::vector<std::string>> parse_hostlist(std::string_view text, size_t names_max) {
  std::vector<std::string> names;
  RETURN_IF_ERROR(append_hostlist(text, names_max, names));
  return names;
}

Result<std::vector<std::string>> parse_hostlists(const std::vector<std::string>& texts,
                                                 size_t names_max) {
  std::vector<std::string> names;
  for (const std::string& text : texts) RETURN_IF_ERROR(append_hostlist(text, names_max, names));
  return names;
}

std::string fold_hostlist(const std::vector<std::string>& names) { return folded(split(names)); }

std::string format_hostlist(std::vector<std::string> names) {
  std::vector<SplitName> parts = split(names);
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return folded(parts);
}

}  // namespace hai
