#pragma once
// Whose files hai-pam believes. It runs as root and does what they say, so nobody but root may be
// able to write them. Root is also whoever runs this process, as tests do.

#include <string>

#include "common/status.h"

namespace hai {

// failed_precondition, with what is wrong, unless only root may write there; not_found if nothing
// is there. Symbolic links are refused. Where the directory of a file is root's, so is the file
// that is opened later by its name: nobody else can put another one in its place.
Status check_root_owned_directory(const std::string& path);
Status check_root_owned_file(const std::string& path);

// The directory, and that nobody but root can put another one in its place: all above it. Links on
// the way to it are followed; returns the path without any.
Result<std::string> resolve_root_owned(const std::string& directory);

}  // namespace hai
