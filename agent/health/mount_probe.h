#pragma once
// Asks a file system how it is, from a child process: a file server that is gone holds whoever asks
// it for ever, and not even SIGKILL ends the wait. A child that does not answer is killed and
// remembered, and until it is really gone its path is not asked again: at most one child per path
// is ever stuck. Used on one thread.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "common/time.h"

namespace hai {

struct FileSystemAnswer {
  int error = 0;  // errno; 0 = the rest is true
  int64_t size_bytes = 0;
  int64_t free_bytes = 0;  // for those who are not root
  int64_t inodes = 0;
  int64_t free_inodes = 0;
  bool is_read_only = false;
  bool operator==(const FileSystemAnswer&) const = default;
};

class MountProbe {
 public:
  // Runs in the child, right after fork: nothing but system calls. statfs(2), or a stand-in.
  using Ask = void (*)(const char* path, FileSystemAnswer* answer);
  static void ask_statfs(const char* path, FileSystemAnswer* answer);

  explicit MountProbe(Duration patience, Ask ask = ask_statfs);
  ~MountProbe();
  MountProbe(const MountProbe&) = delete;
  MountProbe& operator=(const MountProbe&) = delete;

  struct Answer {
    std::string path;
    bool is_answered = false;
    FileSystemAnswer answer;
  };
  // All at once; returns after the last answer or when patience is over. In the order of `paths`.
  std::vector<Answer> probe(const std::vector<std::string>& paths);

  size_t stuck_children() const { return stuck_.size(); }

 private:
  struct Child {
    pid_t pid = 0;
    int answers = -1;  // read end of its pipe
    bool is_done = false;
    size_t got = 0;
    FileSystemAnswer answer;
  };
  Child start(const std::string& path) const;
  void wait_for(std::vector<Child*> open);
  static void read_answer(Child& child);
  void reap_stuck();

  Duration patience_;
  Ask ask_;
  std::map<std::string, pid_t> stuck_;  // by path
};

}  // namespace hai
