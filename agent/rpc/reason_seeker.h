#pragma once
// Finds out why a server and an agent do not come to terms over TLS, which gRPC does not say: by a
// connection of its own, on a thread that nobody waits for, since whoever answers there may be slow
// on purpose. What it finds lies ready until it is taken.

#include <memory>
#include <optional>
#include <string>

#include "common/status.h"
#include "common/tls/tls_files.h"

namespace hai {

class ReasonSeeker {
 public:
  struct Finding {
    std::string server;
    Status why;  // never ok
  };

  // Does nothing while it is seeking already.
  void seek(const std::string& server, const TlsTexts& texts);
  // What was found since the last time; nothing if nothing is wrong with TLS.
  std::optional<Finding> take();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace hai
