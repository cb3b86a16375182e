#pragma once
// One connection to PostgreSQL, opened when first needed and again after any error. Owned and used
// by one thread; only interrupt() may come from another. Failures are PgError exceptions, which
// stop in PgWorker; after one the connection is dropped, which also rolls back what it had begun.
// Hides libpqxx: no other file includes it.

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.h"

namespace hai {

struct PgOptions {
  std::string conninfo;  // of libpq: "host=/run/hai user=hai dbname=hai" or a postgresql:// address
  Duration connect_timeout = 3s;
  Duration statement_timeout = 5s;
  // Appends have arrays of any length as parameters: planning each anew costs more than it gains.
  // Questions with filters gain from it.
  const char* plan_cache_mode = "force_generic_plan";
  bool check_schema = true;     // refuse a database that is not at this program's schema
  std::string cluster_id = {};  // and one of another cluster than this; "" = it has none to go by
};

struct PgError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A lock was waited for as long as lock_timeout says.
struct PgLockTimeout : PgError {
  using PgError::PgError;
};

// Rows as text; copies share them. Read by one thread at a time.
class PgResult {
 public:
  struct Impl;
  explicit PgResult(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  int size() const;
  int64_t affected() const;
  bool is_null(int row, int column) const;
  std::string_view text(int row, int column) const;  // "" for null
  int64_t integer(int row, int column) const;

 private:
  std::shared_ptr<const Impl> impl_;
};

// Prepared once per connection. Names are unique in the program.
struct PgStatement {
  const char* name;
  const char* sql;
};

// Keepalives find a dead peer; how long to wait for one that does not answer.
std::string conninfo_with_timeouts(const PgOptions& options);
// The same of one server of those that `conninfo` names, which is left as it is if it has addresses
// of its own (hostaddr).
std::string conninfo_at(const std::string& conninfo, const std::string& host,
                        const std::string& port);
// What PostgreSQL said, on one line.
std::string one_line_of(std::string_view text);

class PgSession {
 public:
  explicit PgSession(PgOptions options);
  ~PgSession();
  PgSession(const PgSession&) = delete;
  PgSession& operator=(const PgSession&) = delete;

  // One or more statements in the simple protocol; the result of the last one.
  PgResult run(const std::string& sql);
  PgResult call(const PgStatement& statement, const std::vector<std::string>& params = {});
  void close();
  const PgOptions& options() const { return options_; }
  // To the very server that this session is connected to. Asking all hosts of a conninfo again
  // would wait connect_timeout for each one before it that hangs: longer than the lease of a
  // leader.
  PgOptions options_here() const;

  // From any thread: makes a call that hangs fail soon.
  void interrupt();

 private:
  struct Impl;
  void open();

  PgOptions options_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hai
