#pragma once

#include <sys/types.h>

#include <string>

#include "common/status.h"

namespace hai {

// Written beside it, brought to the disk and renamed: whoever reads sees the old content or the new
// one, and so does a machine that was cut off meanwhile. Of the owner and group of `owned_like`, if
// that is a file; otherwise of who calls: who may read a secret does not depend on what lay there.
Status replace_file(const std::string& path, const std::string& text, mode_t mode,
                    const std::string& owned_like = "");

// Gives an open file the owner and group of the one at `path`. Nothing to do is no error.
bool own_like(int file, const std::string& path);

}  // namespace hai
