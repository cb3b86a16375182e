#pragma once
// Free text and names that people give beside a job spec: stored for ever in the event log, so they
// are short and are text.

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "common/status.h"

namespace hai {

inline constexpr size_t kReasonBytesMax = 1'000;
inline constexpr size_t kNameBytesMax = 64;

// A sentence: at most kReasonBytesMax bytes of UTF-8 without control characters.
Status check_sentence(std::string_view what, std::string_view text);
// Of users, user groups and quotas: letters, digits and . _ - @ +, 1 to kNameBytesMax bytes.
bool is_person_char(char c);
Status check_person(std::string_view what, std::string_view name);
// A name that somebody asks for as a sentence repeats it: nothing here has one that is longer, so
// that he need not hear all of it.
inline constexpr size_t kAskedBytesMax = 255;
std::string asked_name(std::string_view name);
// An error with the beginning of its message, where that is long.
Status shortened(const Status& error);
template <typename Reply>
std::function<void(Result<Reply>)> shortened(std::function<void(Result<Reply>)> done) {
  return [done = std::move(done)](Result<Reply> reply) {
    done(reply.is_ok() ? std::move(reply) : Result<Reply>(shortened(reply.status())));
  };
}

}  // namespace hai
