#include "common/index_spans.h"

#include <algorithm>
#include <utility>

namespace hai {
namespace {

// The first span that ends at `index` or later.
auto span_at(auto& spans, int index) {
  return std::ranges::lower_bound(spans, index, {}, &IndexSpan::last);
}

}  // namespace

void add(IndexSpans& spans, IndexSpan span) {
  auto from = span_at(spans, span.first);
  if (from != spans.begin() && std::prev(from)->last == span.first - 1) --from;
  auto to = from;
  // Compared without +1: the last number of all may be the end of a span.
  while (to != spans.end() && to->first - 1 <= span.last) {
    span.first = std::min(span.first, to->first);
    span.last = std::max(span.last, to->last);
    ++to;
  }
  spans.insert(spans.erase(from, to), span);
}

void remove(IndexSpans& spans, int index) {
  const auto it = span_at(spans, index);
  if (it == spans.end() || it->first > index) return;
  const IndexSpan whole = *it;
  auto at = spans.erase(it);
  if (index < whole.last) at = spans.insert(at, {index + 1, whole.last});
  if (index > whole.first) spans.insert(at, {whole.first, index - 1});
}

int64_t count_of(const IndexSpans& spans) {
  int64_t count = 0;
  for (const IndexSpan& span : spans) count += int64_t{span.last} - span.first + 1;
  return count;
}

bool contains(const IndexSpans& spans, int index) {
  const auto it = span_at(spans, index);
  return it != spans.end() && it->first <= index;
}

}  // namespace hai
