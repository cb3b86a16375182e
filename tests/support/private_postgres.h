#pragma once
// A PostgreSQL of a test's own: data and Unix socket in a temporary directory, no TCP, gone with
// the object and with the test's process. Needs PostgreSQL 15 or later; when the test runs as root
// the database runs as the user postgres, since it refuses root.

#include <sys/types.h>

#include <string>
#include <vector>

namespace hai::test {

class PrivatePostgres {
 public:
  PrivatePostgres();  // started and ready, or the test program ends with the reason
  ~PrivatePostgres();
  PrivatePostgres(const PrivatePostgres&) = delete;
  PrivatePostgres& operator=(const PrivatePostgres&) = delete;

  std::string conninfo(const std::string& database = "postgres") const;
  // A fresh, empty database; returns its conninfo.
  std::string create_database(const std::string& name);

  void kill();   // SIGKILL of all its processes
  void start();  // after kill()
  // CPU time its living processes have used: comparable on a busy machine, where wall time is not.
  double cpu_seconds() const;
  // Stops and resumes all its processes: a database that hangs without closing connections.
  void freeze();
  void thaw();

 private:
  void signal_all(int signal);
  std::vector<pid_t> processes() const;

  std::string directory_;
  pid_t pid_ = 0;
};

}  // namespace hai::test
