#pragma once
// What one person may have the store keep: all that is changed stays in the event log for ever. On
// the loop's thread.

#include <cstdint>

#include "common/job_spec.h"
#include "server/api/byte_share.h"
#include "server/api/source.h"
#include "server/control/command.h"
#include "server/control/engine/controller.h"

namespace hai {

// Of the parts of a spec that may be long.
int64_t long_parts_bytes(const JobSpec& spec);
// About how much a command stores: events, rows, and the texts in them.
int64_t stored_bytes(const Command& command);

class StoreShares {
 public:
  static constexpr int64_t kFreeBytes = 4 << 10;       // of each job: no part of a large spec
  static constexpr int64_t kLargeSpecsMax = 64 << 20;  // of a person within an hour
  static constexpr int64_t kChangesMax = 256 << 20;    // the same, of everything

  explicit StoreShares(Controller& controller) : controller_(controller) {}

  // Takes what the command stores from what its caller may have stored, or `resource_exhausted`
  // with how long to wait. `done` as it is to be called: what is refused after all costs nothing.
  // Neither does what comes again with its request id. Whoever operates the cluster is held to
  // large specs only.
  Result<Done<CommandReply>> count(const Caller& caller, const Command& command,
                                   Done<CommandReply> done);

 private:
  struct Amount {
    int64_t large = 0;
    int64_t all = 0;
  };
  Status take(const std::string& user, Amount amount, UnixTime now);
  void give_back(const std::string& user, Amount amount);

  Controller& controller_;
  ByteShare large_specs_{kLargeSpecsMax};
  ByteShare changes_{kChangesMax};
};

}  // namespace hai
