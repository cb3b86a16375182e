#pragma once
// How much speaks against a node: what happened on it in the last 28 days, weighed. After Meta's
// lemon detection (arXiv 2410.21680 §IV), which found 1.2 % of nodes behind 13 % of the daily jobs
// by such counts.

#include <string>
#include <string_view>

#include "common/time.h"
#include "server/model/node_health.h"

namespace hai {

// Kinds of marks; "fault …" names the check, too.
inline constexpr std::string_view kMarkEvicted = "evict";     // a fault that ended what ran there
inline constexpr std::string_view kMarkDrained = "drain";     // … that emptied it
inline constexpr std::string_view kMarkDoubted = "validate";  // … worth a validation
inline constexpr std::string_view kMarkFlash =
    "flash_cut";  // a port was down, and healed; worth no points
inline constexpr std::string_view kMarkGang =
    "gang_failed";  // cost a job of several nodes an attempt
inline constexpr std::string_view kMarkSingle = "job_failed";  // … of one node
inline constexpr std::string_view kMarkInvalid = "validation_failed";
inline constexpr std::string_view kMarkAppFault =
    "app_fault";  // a program's fault, as Xids 13 and 31

inline constexpr std::string_view kMarkAccepted =
    "accepted";  // by a person: what came before is forgotten

inline constexpr Duration kLemonWindow = std::chrono::hours(28 * 24);

struct LemonScore {
  int score = 0;
  std::string explanation;  // "3 drain, 1 validation_failed in 28 days"; "" if there is nothing
};
LemonScore lemon_score(const NodeHealth& health, UnixTime now);

}  // namespace hai
