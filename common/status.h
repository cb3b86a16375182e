#pragma once
// Expected failures. A Status is ok or a code with a text for the person who asked; a Result<T> is
// a value or such a Status. Codes are gRPC's canonical ones, so that every interface maps them the
// same way.

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/check.h"

namespace hai {

enum class Code {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

std::string_view to_string(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool is_ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  bool operator==(const Status&) const = default;

 private:
  Code code_ = Code::ok;
  std::string message_;
};

inline Status ok() { return {}; }

#define HAI_DEFINE_STATUS(name)                                          \
  template <typename... Args>                                            \
  Status name(fmt::format_string<Args...> text, Args&&... args) {        \
    return {Code::name, fmt::format(text, std::forward<Args>(args)...)}; \
  }
HAI_DEFINE_STATUS(invalid_argument)
HAI_DEFINE_STATUS(deadline_exceeded)
HAI_DEFINE_STATUS(not_found)
HAI_DEFINE_STATUS(already_exists)
HAI_DEFINE_STATUS(permission_denied)
HAI_DEFINE_STATUS(resource_exhausted)
HAI_DEFINE_STATUS(failed_precondition)
HAI_DEFINE_STATUS(aborted)
HAI_DEFINE_STATUS(unimplemented)
HAI_DEFINE_STATUS(internal)
HAI_DEFINE_STATUS(unavailable)
HAI_DEFINE_STATUS(unauthenticated)
#undef HAI_DEFINE_STATUS

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: conversions make `return value;` work.
  Result(Status status) : status_(std::move(status)) {  // NOLINT
    CHECK(!status_.is_ok());
  }

  bool is_ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  const T& value() const& {
    CHECK(value_.has_value());
    return *value_;
  }
  T& value() & {
    CHECK(value_.has_value());
    return *value_;
  }
  T&& value() && {
    CHECK(value_.has_value());
    return std::move(*value_);
  }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace hai

#define RETURN_IF_ERROR(expression)                                                         \
  do {                                                                                      \
    if (::hai::Status hai_status_ = (expression); !hai_status_.is_ok()) return hai_status_; \
  } while (false)
