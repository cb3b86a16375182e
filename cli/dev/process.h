#pragma once
// Processes of the dev cluster: started as daemons, found again by pid and start time. A pid alone
// is never killed: it may belong to somebody else by now.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/time.h"

namespace hai::cli {

struct ProcessId {
  pid_t pid = 0;
  uint64_t start_time = 0;  // field 22 of /proc/PID/stat: clock ticks since boot
  auto operator<=>(const ProcessId&) const = default;
};

struct Program {
  std::vector<std::string> words;  // words[0] is a path
  std::string log_file;            // standard output and error, appended
  std::string user;                // run as this user; "" = as we are
  std::string directory = "/";
};

// The process that has `pid` now; nullopt if there is none or it is a zombie.
std::optional<ProcessId> find_process(pid_t pid);
bool is_alive(const ProcessId& process);

// Starts a daemon: own session, no terminal, the log as output.
Result<ProcessId> start_daemon(const Program& program);
// Runs a program to its end, its output to the log. internal if it exits with anything but 0.
Status run_program(const Program& program);
// True if `user` may enter the directory.
bool can_enter(const std::string& directory, const std::string& user);

// "PID STARTTIME\n". Reading gives the process only while it is alive.
Status write_pid_file(const std::string& path, const ProcessId& process);
std::optional<ProcessId> read_pid_file(const std::string& path);

// All living descendants, parents before children.
std::vector<ProcessId> descendants(const ProcessId& process);

// SIGKILL to all of them; those that have gone meanwhile are passed over.
void kill_processes(const std::vector<ProcessId>& processes);
// SIGTERM, then SIGKILL to what is left after `grace`.
void stop_processes(const std::vector<ProcessId>& processes, Duration grace);
// True when all are gone within `limit`.
bool wait_until_gone(const std::vector<ProcessId>& processes, Duration limit);

// The last `lines` lines of a file, each indented; "" if there is none.
std::string tail_of(const std::string& path, int lines);

}  // namespace hai::cli
