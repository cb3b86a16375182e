#pragma once
// What a rank's main processes and those that people start beside them (shell_entry.h) have in
// common. All but the texts may be called between fork and exec: nothing of it allocates.

#include <cstdint>
#include <string>
#include <vector>

#include "agent/os/launch_file.h"
#include "agent/shim/user_identity.h"

namespace hai {

// Open files, locked memory, core dumps of at most `core_bytes`, umask; killed for memory as any.
void set_limits_of_programs(int64_t core_bytes);
// Nothing ignored or blocked.
void reset_signals();
// For good, if it is another user than the shim's. False, with errno, if the kernel refuses.
bool become(const UserIdentity& user);

// What the node's CDI files and the image set and the job does not; where neither says PATH, the
// usual one.
void add_image_environment(const ImageFile& image, LaunchFile& launch);

// The folder of the Python environment that the job asks for; "" if it asks for none. Asks for the
// home of its owner, which can take long.
std::string python_folder(const LaunchProcess& process, const UserIdentity& user);

// "NAME=value", of what the agent gave, the job's services and who the user is.
std::vector<std::string> environment_texts(const LaunchFile& launch, const LaunchProcess& process,
                                           const UserIdentity& user);
// For execve: as long as the texts live.
std::vector<char*> pointers(std::vector<std::string>& texts);

}  // namespace hai
