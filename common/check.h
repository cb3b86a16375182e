#pragma once
// CHECK stops the program on a bug, in release builds too. Never for what came from a network, a
// file or a user.

namespace hai {

[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace hai

#define CHECK(expression) \
  ((expression) ? static_cast<void>(0) : ::hai::check_failed(#expression, __FILE__, __LINE__))
