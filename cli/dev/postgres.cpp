#include "cli/dev/postgres.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/file.h"
#include "cli/patience.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSocketPathMax = 107;
constexpr const char* kSocketName = "/.s.PGSQL.5432";
constexpr Duration kStopGrace = 10s;
constexpr Duration kPostgresPollPause = 20ms;
constexpr int kVersionOldest = 15;

// The folder of initdb and postgres: $HAI_POSTGRES_BIN, Debian's of the newest version, or none.
Result<std::string> find_programs() {
  if (const char* given = std::getenv("HAI_POSTGRES_BIN"); given != nullptr && *given != '\0') {
    return std::string(given);
  }
  for (int version = 30; version >= kVersionOldest; --version) {
    std::string bin = fmt::format("/usr/lib/postgresql/{}/bin", version);
    if (access((bin + "/postgres").c_str(), X_OK) == 0) return bin;
  }
  if (access("/usr/bin/initdb", X_OK) == 0) return std::string("/usr/bin");
  return failed_precondition(
      "PostgreSQL {} or newer is not installed: apt-get install postgresql-{}, or set "
      "HAI_POSTGRES_BIN to the folder of its initdb",
      kVersionOldest, kVersionOldest);
}

Status make_private_directory(const std::string& path, const std::string& user) {
  RETURN_IF_ERROR(make_directories(path, 0700));
  if (user.empty()) return ok();
  const passwd* entry = getpwnam(user.c_str());
  if (entry == nullptr || chown(path.c_str(), entry->pw_uid, entry->pw_gid) != 0) {
    return failed_precondition("{}: cannot be given to user {}: {}", path, user,
                               std::strerror(errno));
  }
  return ok();
}

}  // namespace

Status Postgres::choose_places(const ClusterFiles& files, DevCluster& cluster) {
  std::string root = files.data + "/postgres";
  if (geteuid() == 0) {
    cluster.postgres_user = "postgres";
    if (getpwnam("postgres") == nullptr) {
      return failed_precondition(
          "PostgreSQL does not run as root and there is no user postgres: "
          "install postgresql-{} or run hai as another user",
          kVersionOldest);
    }
    chmod(files.data.c_str(), 0711);
    if (!can_enter(files.data, cluster.postgres_user)) {
      // E.g. below a private temporary directory: keep the database where its user can get.
      root = fmt::format("/var/lib/hai/dev-postgres/{:016x}", std::hash<std::string>()(files.data));
      RETURN_IF_ERROR(make_directories("/var/lib/hai", 0755));
      RETURN_IF_ERROR(make_directories("/var/lib/hai/dev-postgres", 0711));
      // The cluster is new, so this is left of an earlier one of the same name.
      std::error_code error;
      fs::remove_all(root, error);
    }
  }
  cluster.postgres_data = root + "/data";
  cluster.postgres_socket = root + "/socket";
  if (cluster.postgres_socket.size() + std::strlen(kSocketName) > kSocketPathMax) {
    std::string folder = "/tmp/hai-dev-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) {
      return failed_precondition("{}: {}", folder, std::strerror(errno));
    }
    cluster.postgres_socket = folder;
  }
  RETURN_IF_ERROR(make_directories(root, 0711));
  RETURN_IF_ERROR(make_private_directory(cluster.postgres_data, cluster.postgres_user));
  return make_private_directory(cluster.postgres_socket, cluster.postgres_user);
}

Program Postgres::program(std::vector<std::string> words) const {
  return {.words = std::move(words),
          .log_file = files_.log_of("postgres"),
          .user = cluster_.postgres_user,
          .directory = "/"};
}

std::string Postgres::conninfo() const {
  return fmt::format("host={} user=hai dbname=hai", cluster_.postgres_socket);
}

std::optional<ProcessId> Postgres::process() const {
  return read_pid_file(files_.pid_of("postgres"));
}

Status Postgres::initialise(const std::string& bin) {
  if (access((cluster_.postgres_data + "/PG_VERSION").c_str(), F_OK) == 0) return ok();
  return run_program(program({bin + "/initdb", "-D", cluster_.postgres_data, "-U", "hai",
                              "--auth=trust", "--no-locale", "-E", "UTF8", "--no-instructions"}));
}

// After kill -9 its lock files stay; the pid in them may by now be another process of the same
// user, and PostgreSQL would refuse to start. Only what is surely not a postmaster is removed.
Status Postgres::remove_stale_lock() const {
  const std::string path = cluster_.postgres_data + "/postmaster.pid";
  std::ifstream in(path);
  pid_t pid = 0;
  if (!(in >> pid)) return ok();
  std::ifstream command(fmt::format("/proc/{}/comm", pid));
  std::string name;
  if (std::getline(command, name) && name == "postgres" && find_process(pid)) {
    return failed_precondition(
        "PostgreSQL of {} runs already as process {}, which this command did "
        "not start; stop it first",
        cluster_.postgres_data, pid);
  }
  unlink(path.c_str());
  unlink((cluster_.postgres_socket + kSocketName + ".lock").c_str());
  return ok();
}

Status Postgres::wait_until_ready(const std::string& bin, const ProcessId& process,
                                  Duration limit) const {
  const MonoTime end = mono_now() + limit;
  Program ask = program({bin + "/pg_isready", "-q", "-h", cluster_.postgres_socket, "-U", "hai"});
  ask.log_file = "/dev/null";
  while (!run_program(ask).is_ok()) {
    if (!is_alive(process) || mono_now() > end) {
      return unavailable("PostgreSQL {}; its log ends with:\n{}",
                         is_alive(process) ? "does not answer" : "has ended",
                         tail_of(files_.log_of("postgres"), 10));
    }
    std::this_thread::sleep_for(kPostgresPollPause);
  }
  return ok();
}

Status Postgres::create_database(const std::string& bin) const {
  const std::string done = cluster_.postgres_data + "/hai_database_created";
  if (access(done.c_str(), F_OK) == 0) return ok();
  Program create = program({bin + "/createdb", "-h", cluster_.postgres_socket, "-U", "hai", "hai"});
  RETURN_IF_ERROR(run_program(create));
  return write_file(done, "", 0644);
}

Status Postgres::start(Duration limit) {
  if (process()) return ok();
  const Result<std::string> bin = find_programs();
  RETURN_IF_ERROR(bin.status());
  RETURN_IF_ERROR(make_private_directory(cluster_.postgres_data, cluster_.postgres_user));
  RETURN_IF_ERROR(make_private_directory(cluster_.postgres_socket, cluster_.postgres_user));
  RETURN_IF_ERROR(initialise(bin.value()));
  RETURN_IF_ERROR(remove_stale_lock());
  const Result<ProcessId> started = start_daemon(program(
      {bin.value() + "/postgres", "-D", cluster_.postgres_data, "-k", cluster_.postgres_socket,
       "-c", "listen_addresses=", "-c", "unix_socket_permissions=0700", "-c", "max_connections=60",
       "-c", "shared_buffers=64MB", "-c", "log_min_messages=warning"}));
  RETURN_IF_ERROR(started.status());
  RETURN_IF_ERROR(write_pid_file(files_.pid_of("postgres"), started.value()));
  RETURN_IF_ERROR(wait_until_ready(bin.value(), started.value(), limit));
  return create_database(bin.value());
}

Status Postgres::stop() {
  const std::optional<ProcessId> process = this->process();
  if (!process) return ok();
  const std::vector<ProcessId> children = descendants(*process);
  kill(process->pid, SIGINT);  // fast shutdown: ends sessions, writes a checkpoint
  if (!wait_until_gone({*process}, kStopGrace)) kill_processes({*process});
  kill_processes(children);
  unlink(files_.pid_of("postgres").c_str());
  return ok();
}

void Postgres::kill_now() {
  const std::optional<ProcessId> process = this->process();
  if (!process) return;
  std::vector<ProcessId> all = descendants(*process);
  all.insert(all.begin(), *process);
  kill_processes(all);
  wait_until_gone(all, 5s);
}

}  // namespace hai::cli
