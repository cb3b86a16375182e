#pragma once
// A waiting job in one line: its place in the queue, when it will start, what it waits for.

#include <optional>
#include <string>

#include "common/time.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

bool is_waiting(const v1::Job& job);

// "job 17 is queued: 4 nodes asked, 1 free"; "" when it does not wait.
std::string waiting_text(const v1::Job& job);

// "first in the queue", "3 jobs before it"; "" when it is not known.
std::string place_text(const v1::WhyJobReply& why);

// "3 jobs before it; expected to start in 2h10m, 9 of 10 such jobs within 5h"; "" when nothing is
// known.
std::string outlook_text(const v1::WhyJobReply& why, UnixTime now);

// Both as short as a terminal's line: "job 17 queued 1m05s: 3 jobs before it, starts in about
// 2h10m; 4 nodes asked, 1 free".
std::string progress_text(const v1::Job& job, const std::optional<v1::WhyJobReply>& why,
                          UnixTime since, UnixTime now);

}  // namespace hai::cli
