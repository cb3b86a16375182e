#pragma once
// Small files: read whole, replace atomically.

#include <sys/types.h>

#include <string>

#include "common/status.h"
#include "common/unique_fd.h"

namespace hai {

// not_found if there is none; resource_exhausted if it is longer than max_bytes.
Result<std::string> read_file(const std::string& path, size_t max_bytes);

enum class Durability { survives_crash_of_program, survives_crash_of_machine };

// Readers see the old content or the new one, never a part.
Status write_file_atomic(const std::string& path, std::string_view content, mode_t mode,
                         Durability durability);

// Has a file that was written as survives_crash_of_program survive one of the machine, if it can
// be.
void sync_file(const std::string& path);

// Takes the exclusive lock of a file (created if need be) without waiting; failed_precondition if
// another process has it. The lock belongs to the descriptor and whoever inherits it, and ends when
// the last of them is gone.
Result<UniqueFd> lock_file(const std::string& path);

}  // namespace hai
