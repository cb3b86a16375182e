#pragma once
// One question to a server's HTTP interface, for commands that compare what it says.

#include <string>

#include "common/status.h"

namespace hai {

struct HttpQuestion {
  std::string server;  // host:port, http://host:port or https://host:port; with a CA over TLS
  std::string target;  // "/api/v1/digest"
  std::string token;
  std::string ca = {};  // file: whom to believe; "" = whom this machine does
};

// The body of a 200; else what went wrong, with the server's own words. Waits at most 30 s.
Result<std::string> http_get(const HttpQuestion& question);

}  // namespace hai
