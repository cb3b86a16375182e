#pragma once
// The indices of an array of tasks, as Slurm writes them: "0-499", "1,3,7", "0-15:4", and "%20" for
// at most 20 unfinished tasks at once.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  // The indices from this position on, "9,11-15:2"; 0 <= position < count().
  std::string text_from(int position) const;
  // The lowest of its indices that `other` lacks; -1 if that has all of them.
  int missing_in(const ArrayRange& other) const;

 private:
  struct Part {
    int first = 0;
    int count = 0;
    int step = 1;
  };
  std::vector<Part> parts_;
  int count_ = 0;
  int limit_ = 0;
};

}  // namespace hai
