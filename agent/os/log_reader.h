#pragma once
// Reads the log of one rank by byte offset, also while its shim writes and rotates it. Any process
// may do so.

#include <cstdint>
#include <string>

#include "common/log_part.h"
#include "common/status.h"

namespace hai {

// At most max_bytes from `offset` on; none at the end of the log. not_found if there is no such
// log.
Result<LogPart> read_log(const std::string& directory, int64_t offset, int64_t max_bytes);

// Where to begin for the last part of the log: at the start of a line, at most tail_bytes before
// the end.
Result<int64_t> log_tail_offset(const std::string& directory, int64_t tail_bytes);

}  // namespace hai
