#pragma once
// What is wrong with one field of a file a person wrote. Files are judged whole: all errors at
// once, in line order.

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai {

struct FieldError {
  int line = 0;         // 1-based; 0 if the value did not come from a file
  std::string path;     // "resource.node_count"; "" if the whole file is meant
  std::string message;  // "must be 1..100000, is -3"
  bool operator==(const FieldError&) const = default;
};

inline constexpr size_t kFieldErrorsMax = 100;  // more are counted, not listed

std::string to_string(const FieldError& error);  // "line 7: resource.node_count: must be ..."
// One error per line, each after `source` (a file name) if there is one; ok() for none.
Status to_status(const std::vector<FieldError>& errors, std::string_view source = "");

}  // namespace hai
