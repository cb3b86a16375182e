#include "agent/shim/shell_entry.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "agent/os/cgroup.h"
#include "agent/os/files.h"
#include "agent/os/launch_file.h"
#include "agent/os/process_table.h"
#include "agent/os/shell_file.h"
#include "agent/os/shim_process.h"
#include "agent/shim/call_filter.h"
#include "agent/shim/login_door.h"
#include "agent/shim/near_cpus.h"
#include "agent/shim/port_owner.h"
#include "agent/shim/privileges.h"
#include "agent/shim/program_setup.h"

namespace hai {
namespace {

namespace fs = std::filesystem;

constexpr int kCannot = 126;
constexpr int kNotFound = 127;
constexpr size_t kPortsBytesMax = 64 << 20;  // 400,000 connections of the machine

int fail(const std::string& why, int code = kCannot) {
  static_cast<void>(!::write(kShellComplaintFd, why.data(), why.size()));
  return code;
}

Result<ShellProgram> read_request() {
  const UniqueFd file(kShellRequestFd);
  std::string text(kShellFileBytesMax, '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  if (got < 0) return internal("cannot read what is asked: {}", errno_text(errno));
  text.resize(static_cast<size_t>(got));
  return shell_program_from_json(text);
}

// That of the rank's processes: the shim itself stays in the machine's.
Result<UniqueFd> mounts_of_rank(const RankDirectory& directory) {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/ns/mnt", error);
  for (const pid_t pid : descendants_of(shim_pid(directory))) {
    const std::string path = "/proc/" + std::to_string(pid) + "/ns/mnt";
    UniqueFd mounts(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const fs::path its = fs::read_symlink(path, error);
    if (!mounts.is_open() || error || its == own) continue;
    // Its number may have passed to another process meanwhile.
    const std::vector<pid_t> still = descendants_of(shim_pid(directory));
    if (std::ranges::find(still, pid) != still.end()) return mounts;
  }
  return unavailable("none of the rank's programs runs now; try again in a moment");
}

struct Entry {
  LaunchFile launch;
  UserIdentity user;
  std::optional<UniqueFd> mounts;
  std::optional<CallFilter> calls;
};

Result<Entry> look_at(const RankDirectory& directory) {
  const Result<std::string> text = read_file(directory.launch_file(), kLaunchFileBytesMax);
  RETURN_IF_ERROR(text.status());
  Result<LaunchFile> launch = launch_file_from_json(text.value());
  RETURN_IF_ERROR(launch.status());
  Entry entry{.launch = std::move(launch).value(), .user = {}, .mounts = {}, .calls = {}};
  if (!entry.launch.image.empty()) {
    const Result<ImageFile> image = read_image_file(directory.image_file());
    if (!image.is_ok()) return unavailable("the rank waits for its image; try again in a moment");
    add_image_environment(image.value(), entry.launch);
  }
  const Confinement& confinement = entry.launch.confinement;
  Result<UserIdentity> user =
      find_user(entry.launch.user, {.unknown_runs_as_self = entry.launch.unknown_user_runs_as_self,
                                    .system_users = confinement.system_users,
                                    .uid_min = read_uid_min()});
  RETURN_IF_ERROR(user.status());
  entry.user = std::move(user).value();
  if (confinement.has_own_mounts) {
    Result<UniqueFd> mounts = mounts_of_rank(directory);
    RETURN_IF_ERROR(mounts.status());
    entry.mounts = std::move(mounts).value();
  }
  if (confinement.drops_privileges) {
    Result<CallFilter> calls = CallFilter::make(confinement.allowed_calls);
    RETURN_IF_ERROR(calls.status());
    entry.calls = std::move(calls).value();
  }
  return entry;
}

// Looked at when we are in its groups: from the moment the door is shut the shim kills whoever is
// in them, again and again, and who comes later must not come at all.
Status join_groups(const RankDirectory& directory, const Entry& entry) {
  RETURN_IF_ERROR(move_into_cgroups(::getpid(), entry.launch.cgroups));
  if (::access(logins_file(directory).c_str(), F_OK) == 0) return ok();
  return unavailable("the rank is ending; try again when the job runs again");
}

// So that it can be opened by its name: /dev/tty, /dev/stderr. Best effort.
void give_to(const UserIdentity& user, int fd) {
  static_cast<void>(!::fchown(fd, user.uid, static_cast<gid_t>(-1)));
  if (::isatty(fd) != 0) static_cast<void>(!::fchmod(fd, 0620));
}

// In this order: each step takes what the next ones do not need any more.
Status give_up_what_is_roots(const Entry& entry) {
  set_limits_of_programs(entry.launch.program.core_size);
  if (entry.mounts && ::setns(entry.mounts->get(), CLONE_NEWNS) != 0) {
    return internal("cannot enter the rank's mounts: {}", errno_text(errno));
  }
  if (entry.user.switch_user) {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) give_to(entry.user, fd);
  }
  if (entry.calls && !empty_bounding_set()) {
    return internal("cannot give up privileges: {}", errno_text(errno));
  }
  if (!become(entry.user)) {
    return internal("cannot become user {}: {}", entry.launch.user, errno_text(errno));
  }
  if (entry.calls && (!drop_capabilities() || !forbid_new_privileges() || !entry.calls->apply())) {
    return internal("cannot give up privileges: {}", errno_text(errno));
  }
  return ok();
}

// His home where the rank's folder is gone meanwhile.
void enter_folder(const Entry& entry) {
  for (const std::string& folder : {entry.launch.workspace, entry.user.home, std::string("/")}) {
    if (::chdir(folder.c_str()) == 0) return;
  }
}

// As SHELL says, of the job or else of the user.
std::string shell_of(const Entry& entry, const LaunchProcess& process) {
  const auto said = process.environment.find("SHELL");
  const std::string& shell = said == process.environment.end() ? entry.user.shell : said->second;
  return ::access(shell.c_str(), X_OK) == 0 ? shell : "/bin/sh";
}

int run_program(const Entry& entry, const ShellProgram& program) {
  LaunchProcess process = entry.launch.processes.front();
  std::vector<std::string> argv = program.argv;
  std::string file = argv.empty() ? shell_of(entry, process) : argv[0];
  if (argv.empty()) argv.push_back(file.substr(file.rfind('/') + 1));
  if (!program.term.empty()) process.environment["TERM"] = program.term;
  std::vector<std::string> environment = environment_texts(entry.launch, process, entry.user);
  const std::vector<char*> pointers_to_environment = pointers(environment);
  ::environ = const_cast<char**>(pointers_to_environment.data());  // execvp searches its PATH
  ::execvp(file.c_str(), pointers(argv).data());
  const int error = errno;
  if (error == ENOENT) return fail(file + " is no program here", kNotFound);
  return fail("cannot execute " + file + ": " + errno_text(error));
}

// One direction: what was read is written before more is read. Neither waits, so that who does not
// read does not keep the other direction from going on.
class Way {
 public:
  Way(int from, int to) : from_(from), to_(to) {}

  bool is_over() const { return is_over_; }
  bool was_cut() const { return was_cut_; }  // rather than ended
  int fd() const { return is_over_ ? -1 : wants_to_write() ? to_ : from_; }
  short wanted() const { return wants_to_write() ? POLLOUT : POLLIN; }

  void go_on() {
    if (is_over_) return;
    if (!wants_to_write()) {
      const ssize_t got = ::read(from_, piece_.data(), piece_.size());
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
      is_over_ = got <= 0;
      was_cut_ = got < 0;
      end_ = is_over_ ? 0 : static_cast<size_t>(got);
    }
    while (begin_ < end_) {
      const ssize_t wrote = ::write(to_, piece_.data() + begin_, end_ - begin_);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0 && errno == EAGAIN) return;
      if (wrote <= 0) is_over_ = true;
      if (wrote <= 0) return;
      begin_ += static_cast<size_t>(wrote);
    }
    begin_ = end_ = 0;
  }

 private:
  bool wants_to_write() const { return begin_ < end_; }

  const int from_;
  const int to_;
  std::array<char, kShellPieceBytes> piece_{};
  size_t begin_ = 0;
  size_t end_ = 0;
  bool is_over_ = false;
  bool was_cut_ = false;
};

Result<UniqueFd> connect_to(int port) {
  UniqueFd connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!connection.is_open() ||
      ::connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return unavailable("nothing answers at port {} there: {}", port, errno_text(errno));
  }
  const int on = 1;
  ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return connection;
}

Status check_is_own(const UniqueFd& connection, int port) {
  sockaddr_in own{};
  socklen_t size = sizeof own;
  if (::getsockname(connection.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0)
    return internal("getsockname: {}", errno_text(errno));
  LocalPorts ports;
  for (auto [path, text] : {std::pair("/proc/self/net/tcp", &ports.tcp),
                            std::pair("/proc/self/net/tcp6", &ports.tcp6)}) {
    if (Result<std::string> read = read_file(path, kPortsBytesMax); read.is_ok())
      *text = std::move(read).value();
  }
  return check_own_port(ports, port, ntohs(own.sin_port), ::getuid());
}

// Standard input to the connection, and back until the other side has ended it.
int join_to(int port, bool is_own) {
  Result<UniqueFd> opened = connect_to(port);
  if (!opened.is_ok()) return fail(opened.status().message());
  if (const Status owner = is_own ? check_is_own(opened.value(), port) : ok(); !owner.is_ok())
    return fail(owner.message());
  const int connection = opened.value().get();
  ::close(kShellComplaintFd);
  ::signal(SIGPIPE, SIG_IGN);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, connection}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  Way there(STDIN_FILENO, connection);
  Way back(connection, STDOUT_FILENO);
  while (!back.is_over()) {
    std::array<pollfd, 2> ends = {pollfd{there.fd(), there.wanted(), 0},
                                  pollfd{back.fd(), back.wanted(), 0}};
    if (::poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) return kCannot;
    if (ends[0].revents != 0) {
      there.go_on();
      if (there.is_over()) ::shutdown(connection, SHUT_WR);
    }
    if (ends[1].revents != 0) back.go_on();
  }
  return back.was_cut() ? kCannot : 0;
}

}  // namespace

int enter_rank(const RankDirectory& directory) {
  const pid_t agent = ::getppid();
  ::close_range(kShellComplaintFd + 1, ~0u, 0);
  ::fcntl(kShellComplaintFd, F_SETFD, FD_CLOEXEC);
  const Result<ShellProgram> program = read_request();
  if (!program.is_ok()) return fail(program.status().message());
  const Result<Entry> entry = look_at(directory);
  if (!entry.is_ok()) return fail(entry.status().message());
  if (program.value().terminal && ::ioctl(STDIN_FILENO, TIOCSCTTY, 0) != 0) {
    return fail("cannot take the terminal: " + errno_text(errno));
  }
  if (const Status status = join_groups(directory, entry.value()); !status.is_ok()) {
    return fail(status.message());
  }
  stay_on_cpus(entry.value().launch.cpus);
  if (const Status status = give_up_what_is_roots(entry.value()); !status.is_ok()) {
    return fail(status.message());
  }
  // After setuid, which clears it. If the agent died before, nobody would ever tell us.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != agent) return kCannot;
  reset_signals();
  enter_folder(entry.value());
  if (program.value().port > 0) return join_to(program.value().port, program.value().is_own);
  return run_program(entry.value(), program.value());
}

}  // namespace hai
