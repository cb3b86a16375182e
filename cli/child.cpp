#include "cli/child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "common/unique_fd.h"

namespace hai::cli {
namespace {

constexpr int kCannotRun = 126;

// While it lives: what a terminal sends to all is for the child.
class Deaf {
 public:
  Deaf() : before_(::signal(SIGINT, SIG_IGN)) {}
  ~Deaf() { ::signal(SIGINT, before_); }
  Deaf(const Deaf&) = delete;
  Deaf& operator=(const Deaf&) = delete;
  void (*before() const)(int) { return before_; }

 private:
  void (*before_)(int);
};

int run(std::vector<std::string>& words, int output, const UniqueFd* reader, std::string* said) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const Deaf deaf;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGINT, deaf.before());
    if (output >= 0) ::dup2(output, STDOUT_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(errno == ENOENT ? 127 : kCannotRun);
  }
  if (output >= 0) ::close(output);
  if (child < 0) return kCannotRun;
  std::array<char, 4096> part{};
  while (reader != nullptr) {
    const ssize_t got = ::read(reader->get(), part.data(), part.size());
    if (got > 0) said->append(part.data(), static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
  int how = 0;
  while (::waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

}  // namespace

int run_child(std::vector<std::string> words) { return run(words, -1, nullptr, nullptr); }

int run_child(std::vector<std::string> words, std::string& output) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return kCannotRun;
  const UniqueFd reader(ends[0]);
  return run(words, ends[1], &reader, &output);
}

}  // namespace hai::cli
