#pragma once
// Where the threads of libpmix leave what tasks ask for, until the server's own thread takes it.

#include <pmix_server.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/slurm/step/fd.h"
#include "cli/slurm/step/mpi_message.h"

namespace hai::cli::slurm {

class Inbox {
 public:
  // To be called when the data of a fence or of another node's rank has come.
  struct Waiting {
    pmix_modex_cbfunc_t done = nullptr;
    void* context = nullptr;
  };

  Inbox();
  int wake_fd() const { return wake_.get(); }
  void post(MpiMessage message);
  // The message gets an id under which `waiting` is found again.
  void post(MpiMessage message, Waiting waiting);
  std::vector<MpiMessage> take_all();
  std::optional<Waiting> take_waiting(uint32_t id);

 private:
  void wake() const;

  const Fd wake_;
  std::mutex mutex_;
  std::vector<MpiMessage> messages_;
  std::map<uint32_t, Waiting> waiting_;
  uint32_t next_id_ = 1;
};

}  // namespace hai::cli::slurm
