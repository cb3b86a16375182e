#include "agent/health/mount_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace hai {

namespace {

constexpr long kReadOnly = 0x0001;  // ST_RDONLY, as statfs(2) has it

// A child that is stuck outlives the agent: it must not hold its connections, ports and locks, nor
// take signals for it.
void let_go_of_parent(int kept) {
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  if (kept > 0) ::close_range(0, static_cast<unsigned>(kept) - 1, 0);
  ::close_range(static_cast<unsigned>(kept) + 1, ~0U, 0);
}

pid_t wait_without_block(pid_t pid) {
  pid_t ended;
  do {
    ended = ::waitpid(pid, nullptr, WNOHANG);
  } while (ended < 0 && errno == EINTR);
  return ended;
}

}  // namespace

void MountProbe::ask_statfs(const char* path, FileSystemAnswer* answer) {
  struct statfs info = {};
  if (::statfs(path, &info) != 0) {
    answer->error = errno;
    return;
  }
  const auto block = static_cast<int64_t>(info.f_bsize);
  answer->size_bytes = static_cast<int64_t>(info.f_blocks) * block;
  answer->free_bytes = static_cast<int64_t>(info.f_bavail) * block;
  answer->inodes = static_cast<int64_t>(info.f_files);
  answer->free_inodes = static_cast<int64_t>(info.f_ffree);
  answer->is_read_only = (static_cast<long>(info.f_flags) & kReadOnly) != 0;
}

MountProbe::MountProbe(Duration patience, Ask ask) : patience_(patience), ask_(ask) {}

MountProbe::~MountProbe() { reap_stuck(); }

void MountProbe::reap_stuck() {
  std::erase_if(stuck_, [](const auto& entry) { return wait_without_block(entry.second) != 0; });
}

MountProbe::Child MountProbe::start(const std::string& path) const {
  Child child;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return child;
  const char* name = path.c_str();
  // Not fork(): its handlers take locks that another thread may hold.
  child.pid = ::_Fork();
  if (child.pid == 0) {
    let_go_of_parent(ends[1]);
    FileSystemAnswer answer;
    ask_(name, &answer);
    const ssize_t written = ::write(ends[1], &answer, sizeof answer);
    ::_exit(written == static_cast<ssize_t>(sizeof answer) ? 0 : 1);
  }
  ::close(ends[1]);
  if (child.pid < 0) {
    ::close(ends[0]);
    return {};
  }
  child.answers = ends[0];
  return child;
}

void MountProbe::read_answer(Child& child) {
  auto* bytes = reinterpret_cast<char*>(&child.answer);
  ssize_t got;
  do {
    got = ::read(child.answers, bytes + child.got, sizeof child.answer - child.got);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return;
  if (got > 0) child.got += static_cast<size_t>(got);
  child.is_done = got <= 0 || child.got == sizeof child.answer;
}

void MountProbe::wait_for(std::vector<Child*> open) {
  const auto end = std::chrono::steady_clock::now() + patience_;
  while (true) {
    std::erase_if(open, [](const Child* child) { return child->is_done; });
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (open.empty() || left.count() <= 0) return;
    std::vector<pollfd> polled;
    for (const Child* child : open) polled.push_back({child->answers, POLLIN, 0});
    if (::poll(polled.data(), polled.size(), static_cast<int>(left.count())) < 0 && errno != EINTR)
      return;
    for (size_t i = 0; i < open.size(); ++i) {
      if (polled[i].revents != 0) read_answer(*open[i]);
    }
  }
}

std::vector<MountProbe::Answer> MountProbe::probe(const std::vector<std::string>& paths) {
  reap_stuck();
  std::map<std::string, Child> children;
  for (const std::string& path : paths) {
    if (!stuck_.contains(path) && !children.contains(path)) children.emplace(path, start(path));
  }
  std::vector<Child*> open;
  for (auto& [path, child] : children) {
    if (child.pid > 0) open.push_back(&child);
  }
  wait_for(open);
  for (auto& [path, child] : children) {
    if (child.pid <= 0) continue;
    ::close(child.answers);
    if (!child.is_done) ::kill(child.pid, SIGKILL);
    // A child that has answered exits at once; a killed one may be stuck in the kernel.
    if (child.is_done) {
      while (::waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    } else if (wait_without_block(child.pid) == 0) {
      stuck_.emplace(path, child.pid);
    }
  }
  std::vector<Answer> answers;
  for (const std::string& path : paths) {
    const auto child = children.find(path);
    const bool is_answered =
        child != children.end() && child->second.got == sizeof(FileSystemAnswer);
    answers.push_back({.path = path,
                       .is_answered = is_answered,
                       .answer = is_answered ? child->second.answer : FileSystemAnswer{}});
  }
  return answers;
}

}  // namespace hai
