#include "common/machine/spawn.h"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>

namespace hai {

namespace {

constexpr int kOutOfTheWay = 16;

}  // namespace

Spawn::Spawn() {
  ::posix_spawn_file_actions_init(&actions_);
  ::posix_spawnattr_init(&attributes_);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes_, &none);
  ::posix_spawnattr_setsigdefault(&attributes_, &all);
  ::posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

Spawn::~Spawn() {
  ::posix_spawn_file_actions_destroy(&actions_);
  ::posix_spawnattr_destroy(&attributes_);
}

void Spawn::open(const std::string& path, int flags, int as) {
  ::posix_spawn_file_actions_addopen(&actions_, as, path.c_str(), flags, 0600);
}

// One that is given must not be the target of another one's dup2.
void Spawn::give(int fd, int as) {
  given_.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, kOutOfTheWay));
  ::posix_spawn_file_actions_adddup2(&actions_, given_.back().get(), as);
}

void Spawn::share(int of, int as) { ::posix_spawn_file_actions_adddup2(&actions_, of, as); }

Result<pid_t> Spawn::run(const std::vector<std::string>& argv) {
  const char* environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", nullptr};
  return run(argv, const_cast<char**>(environment));
}

Result<pid_t> Spawn::run(const std::vector<std::string>& argv, char** environment) {
  for (const UniqueFd& fd : given_) {
    if (!fd.is_open()) return resource_exhausted("cannot duplicate a descriptor");
  }
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, argv[0].c_str(), &actions_, &attributes_, words.data(), environment);
  if (error != 0) return internal("cannot start {}: {}", argv[0], errno_text(error));
  return pid;
}

}  // namespace hai
