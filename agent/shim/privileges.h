#pragma once
// Giving up what only root may do, for good. All of it between fork and exec: nothing allocates.
// False, with errno, if the kernel refuses.

namespace hai {

// What no exec can give back; while the process is still root.
bool empty_bounding_set();

// After the last change of user.
bool drop_capabilities();

// Setuid programs run as whoever calls them. Also for those who have no privileges to drop.
bool forbid_new_privileges();

}  // namespace hai
