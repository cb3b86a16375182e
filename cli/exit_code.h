#pragma once
// The exit codes of `hai`; scripts rely on them. `hai wait` and `hai run -f` give the job's own
// code instead.

#include <optional>
#include <string_view>

#include "common/status.h"

namespace hai::cli {

inline constexpr int kOk = 0;
inline constexpr int kError = 1;
inline constexpr int kUsage = 2;  // also a job file that is not valid
inline constexpr int kNotFound = 3;
inline constexpr int kRefused = 4;
inline constexpr int kUnreachable = 5;
inline constexpr int kTimedOut = 124;     // hai wait --timeout, as timeout(1)
inline constexpr int kInterrupted = 130;  // Ctrl-C, and a stopped job that left no code of its own

int exit_code_of(const Status& status);

// Of a finished job: its own code; one that failed or was stopped without a code (or with 0) still
// must not look well.
int exit_code_of_job(std::string_view state, std::optional<int> exit_code);

}  // namespace hai::cli
