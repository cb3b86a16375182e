#pragma once
// The way from the shells to the agents.

#include <string>

#include "common/shell_messages.h"

namespace hai {

class ShellPort {
 public:
  virtual ~ShellPort() = default;
  // False if the node has no connection.
  virtual bool send_shell_request(const std::string& node, const ShellRequest& request) = 0;
};

}  // namespace hai
