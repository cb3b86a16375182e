#pragma once
// Times as Slurm's commands read and write them. Clock times are those of this machine's time zone.

#include <optional>
#include <string>
#include <string_view>

#include "common/status.h"
#include "common/time.h"

namespace hai::cli::slurm {

// "90" (minutes), "5:30", "12:00:00", "2-12", "2-12:30", "2-12:30:00"; 0, "infinite" and
// "unlimited" are no limit, which is 0.
Result<Duration> parse_time_limit(std::string_view text);

// "now", "now+2hours", "now-7days", "16:00", "16:00:30", "2026-11-20", "2026-11-20T08:00[:00]",
// "today", "tomorrow", "midnight", "noon", "teatime"; a clock time that is past means tomorrow.
Result<UnixTime> parse_begin_time(std::string_view text, UnixTime now);

std::string format_elapsed(Duration time);      // "2:05", "1:02:05", "3-04:00:00"
std::string format_clock(Duration time);        // "00:02:05", "3-04:00:00"
std::string format_clock_time(int64_t micros);  // "2026-11-20T08:00:00"
std::string format_date(int64_t micros);        // "Fri Nov 20 08:00:00 2026"

}  // namespace hai::cli::slurm
