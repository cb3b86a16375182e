#pragma once
// hai-image, started for one rank: it gets the rank's image if it is not here and says in the
// rank's image.json where it is. What it says meanwhile goes into the rank's log.

#include <sys/types.h>

#include <memory>

#include "agent/os/rank_directory.h"
#include "agent/shim/output_pipe.h"
#include "agent/shim/user_identity.h"
#include "common/status.h"

namespace hai {

class ImageHelper {
 public:
  static Result<std::unique_ptr<ImageHelper>> start(boost::asio::io_context& context,
                                                    const RankDirectory& directory,
                                                    const UserIdentity& user, LogSpool& spool);
  pid_t pid() const { return pid_; }  // the caller reaps it
  void drain() { output_.drain(); }   // when it has ended

 private:
  ImageHelper(pid_t pid, OutputPipe output) : pid_(pid), output_(std::move(output)) {}
  pid_t pid_;
  OutputPipe output_;
};

}  // namespace hai
