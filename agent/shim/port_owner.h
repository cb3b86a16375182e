#pragma once
// Whose program answers at a port of this machine. Pure.

#include <sys/types.h>

#include <string>

#include "common/status.h"

namespace hai {

struct LocalPorts {
  std::string tcp;   // the text of /proc/net/tcp
  std::string tcp6;  // of /proc/net/tcp6
};

// Whether the connection from `own_port` to 127.0.0.1:`port` leads to a program of this user: who
// listens there must be his, and so must be who has taken it, if somebody has. To be asked while
// the connection is open: who listened the moment before may have been another one.
Status check_own_port(const LocalPorts& ports, int port, int own_port, uid_t uid);

}  // namespace hai
