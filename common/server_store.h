#pragma once
// Which servers the cluster has, kept in the store: between the server's interfaces and its
// database. Calls and callbacks happen on the loop's thread; callbacks never come from inside the
// call.

#include <functional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/time.h"

namespace hai {

class ServerStore {
 public:
  virtual ~ServerStore() = default;
  // Notes that the server at `own` (host:port of its gRPC; "" = it is not told) runs, and forgets
  // those that have not said so for `keep`. Answers with all, in order of their addresses.
  virtual void note(std::string own, Duration keep,
                    std::function<void(Result<std::vector<std::string>>)> done) = 0;
};

}  // namespace hai
