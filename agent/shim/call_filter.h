#pragma once
// The seccomp filter of a rank's programs, of the tables in agent/os/refused_calls.h.

#include <linux/filter.h>

#include <string>
#include <vector>

#include "common/status.h"

namespace hai {

class CallFilter {
 public:
  // `allowed` names calls of the tables that are let through after all.
  static Result<CallFilter> make(const std::vector<std::string>& allowed);

  // For this process and all that it will start. Needs no_new_privs. Between fork and exec: it
  // allocates nothing. False, with errno, if the kernel refuses.
  bool apply() const;

 private:
  std::vector<sock_filter> program_;
};

}  // namespace hai
