#include "tests/support/private_postgres.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace hai::test {
namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "private postgres: {}\n", why);
  std::abort();
}

// The newest version Debian has installed.
std::string bin_directory() {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", error)) {
    if (fs::exists(entry.path() / "bin/postgres")) found.push_back(entry.path() / "bin");
  }
  if (found.empty()) give_up("no /usr/lib/postgresql/VERSION/bin/postgres: install postgresql");
  return *std::ranges::max_element(found);
}

const passwd* database_user() {
  if (::geteuid() != 0) return nullptr;
  const passwd* user = ::getpwnam("postgres");
  if (user == nullptr) give_up("running as root, and there is no user postgres");
  return user;
}

// Runs a program as the database's user; it dies with this process.
pid_t spawn(const std::vector<std::string>& words, const std::string& log_file) {
  const passwd* user = database_user();
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::setpgid(0, 0);
  if (user != nullptr && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 ||
                          ::setuid(user->pw_uid) != 0)) {
    ::_exit(126);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (::getppid() != parent) ::_exit(125);
  const int log = ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  if (::chdir("/") != 0) ::_exit(124);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

PrivatePostgres::PrivatePostgres() {
  std::string name = (fs::temp_directory_path() / "hai-postgres-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) give_up("cannot make a temporary directory");
  directory_ = name;
  if (const passwd* user = database_user()) {
    if (::chown(name.c_str(), user->pw_uid, user->pw_gid) != 0) give_up("cannot chown " + name);
  }
  const pid_t init = spawn({bin_directory() + "/initdb", "-D", directory_ + "/data", "-U",
                            "postgres", "--auth=trust", "--no-locale", "-E", "UTF8", "--no-sync"},
                           directory_ + "/log");
  if (wait_for(init) != 0) give_up("initdb failed:\n" + text_of(directory_ + "/log"));
  start();
}

PrivatePostgres::~PrivatePostgres() {
  kill();
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

std::string PrivatePostgres::conninfo(const std::string& database) const {
  return fmt::format("host={} user=postgres dbname={}", directory_, database);
}

void PrivatePostgres::start() {
  const auto deadline = Steady::now() + std::chrono::seconds(30);
  while (true) {
    pid_ = spawn(
        {bin_directory() + "/postgres", "-D", directory_ + "/data", "-k", directory_, "-c",
         "listen_addresses=", "-c", "max_connections=50", "-c", "recovery_init_sync_method=syncfs"},
        directory_ + "/log");
    // It ends at once while processes of one that was killed still hold its memory.
    while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
      if (PQping(conninfo().c_str()) == PQPING_OK) return;
      if (Steady::now() > deadline) give_up("not ready:\n" + text_of(directory_ + "/log"));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (Steady::now() > deadline) give_up("does not start:\n" + text_of(directory_ + "/log"));
  }
}

// Backends make sessions of their own, but say whose children they are.
std::vector<pid_t> PrivatePostgres::processes() const {
  std::vector<pid_t> pids{pid_};
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", pid_));
  for (pid_t child = 0; file >> child;) pids.push_back(child);
  return pids;
}

void PrivatePostgres::signal_all(int signal) {
  for (pid_t pid : processes()) ::kill(pid, signal);
}

double PrivatePostgres::cpu_seconds() const {
  int64_t ticks = 0;
  for (pid_t pid : processes()) {
    std::string stat = text_of(fmt::format("/proc/{}/stat", pid));
    std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
    std::string word;
    for (int i = 0; i < 11; ++i) fields >> word;  // up to what comes before utime
    int64_t user = 0;
    int64_t system = 0;
    if (fields >> user >> system) ticks += user + system;
  }
  return static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

void PrivatePostgres::kill() {
  if (pid_ == 0) return;
  signal_all(SIGKILL);
  wait_for(pid_);
  pid_ = 0;
}

void PrivatePostgres::freeze() { signal_all(SIGSTOP); }
void PrivatePostgres::thaw() { signal_all(SIGCONT); }

std::string PrivatePostgres::create_database(const std::string& name) {
  PGconn* connection = PQconnectdb(conninfo().c_str());
  PGresult* result = PQexec(connection, fmt::format("CREATE DATABASE {}", name).c_str());
  if (PQresultStatus(result) != PGRES_COMMAND_OK) give_up(PQerrorMessage(connection));
  PQclear(result);
  PQfinish(connection);
  return conninfo(name);
}

}  // namespace hai::test
