#include "server/store/process_identity.h"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace hai {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Without hyphens, as systemd writes it: the unit tells it where it hides that part of /proc.
std::string boot_id() {
  std::string id = first_line("/proc/sys/kernel/random/boot_id");
  if (const char* told = std::getenv("HAI_BOOT_ID"); id.empty() && told != nullptr) id = told;
  std::erase(id, '-');
  return id;
}

std::string link_target(const char* path) {
  std::array<char, 256> target{};
  const ssize_t size = ::readlink(path, target.data(), target.size() - 1);
  return size > 0 ? std::string(target.data(), static_cast<size_t>(size)) : "";
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Field 22 of /proc/PID/stat, in ticks since boot; "" if there is no such process or it is a
// zombie, which holds nothing any more; nothing if /proc does not show it. Fields are counted after
// the name, which may hold anything.
std::optional<std::string> start_time(std::string_view pid) {
  const std::string line = first_line(fmt::format("/proc/{}/stat", pid));
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) {
    // Other users' processes may be hidden (hidepid, ProtectProc=); a signal finds them all.
    const bool is_gone = ::kill(std::atoi(std::string(pid).c_str()), 0) != 0 && errno == ESRCH;
    return is_gone ? std::optional<std::string>("") : std::nullopt;
  }
  const auto fields = split(std::string_view(line).substr(name_end + 1), ' ');
  constexpr size_t kState = 1;
  constexpr size_t kStart = 20;
  if (fields.size() <= kStart || fields[kState] == "Z" || fields[kState] == "X") {
    return std::string();
  }
  return std::string(fields[kStart]);
}

}  // namespace

ProcessIdentity this_process() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string pid = std::to_string(::getpid());
  return {.holder = fmt::format("{}:{}", host.data(), pid),
          .process = fmt::format("{}/{}/{}/{}", boot_id(), link_target("/proc/self/ns/pid"), pid,
                                 start_time(pid).value_or(""))};
}

bool is_surely_dead(std::string_view process) {
  std::vector<std::string_view> theirs = split(process, '/');
  std::string their_boot(theirs[0]);
  std::erase(their_boot, '-');  // as a server of before this version wrote it
  theirs[0] = their_boot;
  const std::string own = this_process().process;
  const auto ours = split(own, '/');
  if (theirs.size() < 4 || ours.size() != 4) return false;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].empty() || theirs[i].empty()) return false;
  }
  if (theirs[0] != ours[0] || theirs[1] != ours[1]) return false;
  // A pid's start time is read from /proc of this machine: another start is another process.
  const auto started = start_time(theirs[2]);
  return started && *started != theirs[3];
}

}  // namespace hai
