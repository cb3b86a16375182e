#pragma once
// What a fuzzed reader is: one function that takes any bytes. libFuzzer's main calls it with what
// it makes up (preset `fuzz`, campaign.sh), corpus_main.cpp with the files that were kept.

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace hai::fuzz {

// A promise that does not hold is found as a crash is: by the end of the process.
[[noreturn]] inline void broken(const std::string& what) {
  fmt::print(stderr, "broken promise: {}\n", what.substr(0, 5'000));
  std::abort();
}

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// One of `count` things to do with the rest of the input, told by its first byte.
inline size_t take_choice(std::string_view& input, size_t count) {
  if (input.empty()) return 0;
  const size_t choice = static_cast<uint8_t>(input.front()) % count;
  input.remove_prefix(1);
  return choice;
}

// Whatever is wrong with an input, people get one reason, and no book.
inline void judge_reason(std::string_view reason, size_t bytes_max = 4'000) {
  if (reason.empty()) broken("refused without a reason");
  if (reason.size() <= bytes_max) return;
  broken(fmt::format("a reason of {} bytes: {}", reason.size(), reason.substr(0, 200)));
}

}  // namespace hai::fuzz
