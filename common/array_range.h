#pragma once
// The indices of an array of tasks, as Slurm writes them: "0-499", "1,3,7", "0-15:4", and "%20" for
// at most 20 unfinished tasks at once.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/index_spans.h"
#include "common/status.h"

namespace hai {

inline constexpr int kArrayTasksMax = 100'000;
inline constexpr int kArrayIndexMax = 10'000'000;

class ArrayRange {
 public:
  // Of increasing indices, each once. The error says what is wrong with the text.
  static Result<ArrayRange> parse(std::string_view text);

  int count() const { return count_; }
  int at(int position) const;  // 0 <= position < count()
  int first() const { return parts_.front().first; }
  int last() const { return at(count_ - 1); }
  int step() const { return parts_.size() == 1 ? parts_.front().step : 1; }
  int limit() const { return limit_; }  // 0 = none
  std::vector<int> indices() const;
  // The indices from this position on without the skipped ones, "9,11-15:2"; "" if none is left.
  std::string text_from(int position, const IndexSpans& skipped = {}) const;
  // The same range with another limit.
  std::string with_limit(int limit) const;
  bool contains(int index) const;
  // The lowest of its indices that `other` lacks; -1 if that has all of them.
  int missing_in(const ArrayRange& other) const;

 private:
  struct Part {
    int first = 0;
    int count = 0;
    int step = 1;
  };
  static void add_text(int first, int last, int step, std::string& text);
  // The last index of the part below this one, which lies above the part's first.
  static int last_before(const Part& part, int index);

  std::vector<Part> parts_;
  int count_ = 0;
  int limit_ = 0;
};

}  // namespace hai
