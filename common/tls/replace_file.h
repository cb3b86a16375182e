#pragma once

#include <sys/types.h>

#include <string>

#include "common/status.h"

namespace hai {

// Written beside it, brought to the disk and renamed: whoever reads sees the old content or the new
// one, and so does a machine that was cut off meanwhile.
Status replace_file(const std::string& path, const std::string& text, mode_t mode);

}  // namespace hai
