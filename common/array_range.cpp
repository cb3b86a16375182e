#include "common/array_range.h"

#include <algorithm>

#include "common/check.h"
#include "common/whole_number.h"

namespace hai {

Result<ArrayRange> ArrayRange::parse(std::string_view text) {
  const std::string_view whole = text.substr(0, 64);
  const auto bad = [&](std::string_view why) { return invalid_argument("'{}': {}", whole, why); };
  ArrayRange range;
  if (const size_t percent = text.find('%'); percent != std::string_view::npos) {
    const auto limit = whole_number<int>(text.substr(percent + 1));
    if (!limit || *limit < 1 || *limit > kArrayTasksMax) {
      return bad("after % stands how many tasks may be unfinished at once, as in 0-499%20");
    }
    range.limit_ = *limit;
    text = text.substr(0, percent);
  }
  int highest = -1;
  while (true) {
    std::string_view item = text.substr(0, text.find(','));
    const size_t size = item.size();
    int step = 1;
    if (const size_t colon = item.find(':'); colon != std::string_view::npos) {
      const auto asked = whole_number<int>(item.substr(colon + 1));
      if (!asked || *asked < 1) return bad("after : stands a step, as in 0-15:4");
      // A larger one leads beyond all indices, too, and out of an int where it is added to one.
      step = std::min(*asked, kArrayIndexMax + 1);
      item = item.substr(0, colon);
    }
    const size_t dash = item.find('-');
    const auto first = whole_number<int64_t>(item.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : whole_number<int64_t>(item.substr(dash + 1));
    if (!first || !last || *first < 0) {
      return bad("an array is numbers and ranges, as 0-499, 1,3,7 or 0-499%20");
    }
    if (*last < *first) return bad(fmt::format("range {} runs backwards", item));
    if (*last > kArrayIndexMax) return bad(fmt::format("indices go to {}", kArrayIndexMax));
    if (*first <= highest) return bad("indices must increase");
    const int64_t count = (*last - *first) / step + 1;
    if (count > kArrayTasksMax - range.count_) {
      return bad(fmt::format("more than {} tasks", kArrayTasksMax));
    }
    range.parts_.push_back({static_cast<int>(*first), static_cast<int>(count), step});
    range.count_ += static_cast<int>(count);
    highest = static_cast<int>(*first + (count - 1) * step);
    if (size == text.size()) return range;
    text.remove_prefix(size + 1);
  }
}

int ArrayRange::at(int position) const {
  CHECK(position >= 0 && position < count_);
  for (const Part& part : parts_) {
    if (position < part.count) return part.first + position * part.step;
    position -= part.count;
  }
  return 0;
}

bool ArrayRange::contains(int index) const {
  return std::ranges::any_of(parts_, [&](const Part& part) {
    const int beyond = index - part.first;
    return beyond >= 0 && beyond % part.step == 0 && beyond / part.step < part.count;
  });
}

void ArrayRange::add_text(int first, int last, int step, std::string& text) {
  text += (text.empty() ? "" : ",") + std::to_string(first);
  if (last > first) text += "-" + std::to_string(last);
  if (last > first && step > 1) text += ":" + std::to_string(step);
}

std::string ArrayRange::text_from(int position, const IndexSpans& skipped) const {
  std::string text;
  for (const Part& part : parts_) {
    const int before = std::min(position, part.count);
    position -= before;
    int first = part.first + before * part.step;
    const int end = part.first + part.count * part.step;
    for (const IndexSpan& span : skipped) {
      if (span.last < first || span.first >= end) continue;
      if (first < span.first) add_text(first, last_before(part, span.first), part.step, text);
      first = std::max(first, last_before(part, span.last + 1) + part.step);
    }
    if (first < end) add_text(first, end - part.step, part.step, text);
  }
  return text;
}

int ArrayRange::last_before(const Part& part, int index) {
  return part.first + (index - 1 - part.first) / part.step * part.step;
}

std::string ArrayRange::with_limit(int limit) const {
  std::string text = text_from(0);
  return limit > 0 ? text + "%" + std::to_string(limit) : text;
}

int ArrayRange::missing_in(const ArrayRange& other) const {
  const std::vector<int> theirs = other.indices();
  auto next = theirs.begin();
  for (int index : indices()) {
    while (next != theirs.end() && *next < index) ++next;
    if (next == theirs.end() || *next != index) return index;
  }
  return -1;
}

std::vector<int> ArrayRange::indices() const {
  std::vector<int> all;
  all.reserve(static_cast<size_t>(count_));
  for (const Part& part : parts_) {
    for (int i = 0; i < part.count; ++i) all.push_back(part.first + i * part.step);
  }
  return all;
}

}  // namespace hai
