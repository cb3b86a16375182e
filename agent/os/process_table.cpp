#include "agent/os/process_table.h"

#include <dirent.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "agent/os/files.h"

namespace hai {

namespace {

constexpr int kStartTimeField = 22;  // see proc(5)
constexpr size_t kStatBytesMax = 4096;
constexpr size_t kStatusBytesMax = 16 << 10;
constexpr size_t kEnvironmentBytesMax =
    8 << 20;  // The kernel's own limit for arguments and environment is 6 MiB.

struct Entry {
  pid_t parent = 0;
  char state = 0;
  uint64_t start_ticks = 0;
};

std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  DIR* directory = ::opendir("/proc");
  if (directory == nullptr) return pids;
  while (const dirent* entry = ::readdir(directory)) {
    const char* end = entry->d_name + std::strlen(entry->d_name);
    pid_t pid = 0;
    const auto [stop, error] = std::from_chars(entry->d_name, end, pid);
    if (error == std::errc() && stop == end) pids.push_back(pid);
  }
  ::closedir(directory);
  return pids;
}

// "PID (NAME) STATE PARENT …"; the name may hold spaces and brackets, so look from its last
// bracket.
std::optional<Entry> read_entry(pid_t pid) {
  const Result<std::string> stat =
      read_file("/proc/" + std::to_string(pid) + "/stat", kStatBytesMax);
  if (!stat.is_ok()) return std::nullopt;
  const std::string& text = stat.value();
  const size_t bracket = text.rfind(')');
  if (bracket == std::string::npos || bracket + 4 >= text.size()) return std::nullopt;
  std::istringstream fields(text.substr(bracket + 2));
  Entry entry;
  fields >> entry.state >> entry.parent;
  std::string skipped;
  for (int field = 5; field < kStartTimeField; ++field) fields >> skipped;
  fields >> entry.start_ticks;
  if (fields.fail()) return std::nullopt;
  return entry;
}

// A leader whose own thread has ended shows as a zombie while its other threads run on.
bool is_gone(pid_t pid, char state) {
  if (state != 'Z' && state != 'X') return false;
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(pid) + "/task", error);
  return std::distance(begin(tasks), end(tasks)) <= 1;
}

bool has_entry(std::string_view environment, std::string_view entry) {
  for (size_t at = environment.find(entry); at != std::string_view::npos;
       at = environment.find(entry, at + 1)) {
    const size_t end = at + entry.size();
    if ((at == 0 || environment[at - 1] == '\0') &&
        (end == environment.size() || environment[end] == '\0')) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t root) {
  std::multimap<pid_t, pid_t> children;  // A zombie leader can still have live children below it.
  std::map<pid_t, char> states;
  for (const pid_t pid : all_pids()) {
    const std::optional<Entry> entry = read_entry(pid);
    if (!entry) continue;
    children.emplace(entry->parent, pid);
    states[pid] = entry->state;
  }
  std::vector<pid_t> found;
  std::vector<pid_t> open = {root};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      open.push_back(child->second);
      if (!is_gone(child->second, states[child->second])) found.push_back(child->second);
    }
    children.erase(first, last);  // Also ends the walk should a snapshot ever hold a cycle.
  }
  return found;
}

SignalDisposition signal_disposition(pid_t pid, int signal) {
  const Result<std::string> status =
      read_file("/proc/" + std::to_string(pid) + "/status", kStatusBytesMax);
  if (!status.is_ok()) return SignalDisposition::gone;
  const auto is_set = [&](std::string_view mask) {
    const size_t at = status.value().find(mask);
    if (at == std::string::npos) return false;
    uint64_t bits = 0;
    const char* text = status.value().data() + at + mask.size();
    std::from_chars(text, status.value().data() + status.value().size(), bits, 16);
    return ((bits >> (signal - 1)) & 1) != 0;
  };
  if (is_set("\nSigCgt:\t")) return SignalDisposition::catches;
  if (is_set("\nSigIgn:\t")) return SignalDisposition::ignores;
  // Of a process that is ending the kernel may say that it does nothing about any signal.
  return is_process_alive(pid) ? SignalDisposition::dies : SignalDisposition::gone;
}

std::vector<pid_t> processes_with_environment(std::string_view entry) {
  std::vector<pid_t> found;
  for (const pid_t pid : all_pids()) {
    // Zombies and kernel threads have an empty environment; others' are unreadable without rights.
    const Result<std::string> environment =
        read_file("/proc/" + std::to_string(pid) + "/environ", kEnvironmentBytesMax);
    if (environment.is_ok() && has_entry(environment.value(), entry)) found.push_back(pid);
  }
  return found;
}

bool is_process_alive(pid_t pid) {
  const std::optional<Entry> entry = read_entry(pid);
  return entry && !is_gone(pid, entry->state);
}

uint64_t process_start_ticks(pid_t pid) {
  const std::optional<Entry> entry = read_entry(pid);
  return entry ? entry->start_ticks : 0;
}

}  // namespace hai
