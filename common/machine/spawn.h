#pragma once
// Starts a helper program: in a session of its own, with default signals and, unless it is given
// one, nothing of our environment, above all no HAI_SOCKET of a job that an agent may run in.

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "common/status.h"
#include "common/unique_fd.h"

namespace hai {

class Spawn {
 public:
  Spawn();
  ~Spawn();
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  // What its descriptor `as` is: a file, one of ours, or the same as another of its own.
  void open(const std::string& path, int flags, int as);
  void give(int fd, int as);
  void share(int of, int as);
  // The pid; the caller must reap it.
  Result<pid_t> run(const std::vector<std::string>& argv);
  Result<pid_t> run(const std::vector<std::string>& argv, char** environment);

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  std::vector<UniqueFd> given_;  // out of the way of the descriptors that are made
};

}  // namespace hai
