#include "server/store/pg_session.h"

#include <sys/socket.h>

#include <fmt/core.h>

#include <cctype>
#include <map>
#include <mutex>
#include <optional>
#include <pqxx/pqxx>

#include "common/whole_number.h"
#include "server/store/cluster_mark.h"
#include "server/store/conninfo.h"
#include "server/store/migrations.h"

namespace hai {

// Readers go through a row from left to right, and making a pqxx::row anew for each cell costs more
// than reading it. One thread reads a result at a time.
struct PgResult::Impl {
  pqxx::result rows;
  mutable pqxx::row row = {};
  mutable int row_number = -1;

  pqxx::field cell(int number, int column) const {
    if (number != row_number) {
      row = rows[static_cast<pqxx::result::size_type>(number)];
      row_number = number;
    }
    return row[column];
  }
};

int PgResult::size() const { return static_cast<int>(impl_->rows.size()); }
int64_t PgResult::affected() const { return static_cast<int64_t>(impl_->rows.affected_rows()); }

bool PgResult::is_null(int row, int column) const { return impl_->cell(row, column).is_null(); }

std::string_view PgResult::text(int row, int column) const {
  const pqxx::field field = impl_->cell(row, column);
  return {field.c_str(), field.size()};  // kept by rows, not by field
}

int64_t PgResult::integer(int row, int column) const {
  const std::string_view digits = text(row, column);
  const std::optional<int64_t> value = whole_number(digits);
  if (!value) {
    throw PgError(fmt::format("column {}: {} is no integer", column, digits));
  }
  return *value;
}

struct PgSession::Impl {
  std::optional<pqxx::connection> connection;
  std::optional<pqxx::nontransaction> work;     // sends what it is given; the callers write BEGIN
  std::map<std::string, std::string> prepared;  // as the server knows it, by our name
  std::mutex socket_mutex;  // the socket must not be closed and reused while interrupt() has it
  int socket = -1;
};

namespace {

std::string session_settings(const PgOptions& options) {
  return fmt::format(
      "SET client_min_messages = error; SET timezone = 'UTC'; SET datestyle = 'ISO';"
      "SET standard_conforming_strings = on; SET synchronous_commit = on;"
      "SET plan_cache_mode = {1};"
      // No statement here runs long enough to be worth compiling, and a load, whose plans look dear
      // because sequential scans are ruled out, spent 180 ms on it.
      "SET jit = off;"
      "SET application_name = 'hai-server'; SET statement_timeout = {0};"
      // A server that is paused inside a transaction must not keep the lease's row locked.
      "SET idle_in_transaction_session_timeout = 2000",
      options.statement_timeout / 1ms, options.plan_cache_mode);
}

void check_cluster(pqxx::nontransaction& work, const std::string& id) {
  const auto comment = work.exec(std::string("SELECT ") + kMarkSql);
  if (std::string foreign = foreign_mark(id, comment[0][0].c_str()); !foreign.empty()) {
    throw PgError(foreign + ": " + kForeignRemedy);
  }
}

void check_schema(pqxx::nontransaction& work) {
  int64_t found = 0;
  if (!work.exec("SELECT to_regclass('schema_migration')")[0][0].is_null()) {
    found = work.exec("SELECT coalesce(max(version), 0) FROM schema_migration")[0][0].as<int64_t>();
  }
  if (std::string mismatch = schema_mismatch(found); !mismatch.empty()) throw PgError(mismatch);
}

// What PostgreSQL said, and what to do where that is not in it.
std::string words_of(const std::exception& error) {
  const std::string text = one_line_of(error.what());
  if (dynamic_cast<const pqxx::disk_full*>(&error) == nullptr) return text;
  return "the disk of its machine is full, make room there: " + text;
}

// PostgreSQL's lock_not_available: there is no other sign of it in any language.
bool has_waited_for_lock(const std::exception& error) {
  const auto* said = dynamic_cast<const pqxx::sql_error*>(&error);
  return said != nullptr && said->sqlstate() == "55P03";
}

}  // namespace

std::string one_line_of(std::string_view text) {
  std::string line;
  for (char byte : text) line += byte == '\n' ? ' ' : byte;
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

std::string conninfo_with_timeouts(const PgOptions& options) {
  const int64_t seconds = std::max<int64_t>(options.connect_timeout / 1s, 2);
  const auto join = [&](const char* first, const char* next) {
    return fmt::format(
        "{2}connect_timeout={0}{3}keepalives_idle=5{3}keepalives_interval=2{3}keepalives_count=3"
        "{3}tcp_user_timeout={1}",
        seconds, options.statement_timeout / 1ms * 2, first, next);
  };
  const std::string& base = options.conninfo;
  if (base.find("://") == std::string::npos) return base + join(" ", " ");
  return base + join(base.find('?') == std::string::npos ? "?" : "&", "&");
}

std::string conninfo_at(const std::string& conninfo, const std::string& host,
                        const std::string& port) {
  const Result<std::map<std::string, std::string>> words = parse_conninfo(conninfo);
  if (!words.is_ok() || words.value().contains("hostaddr")) return conninfo;
  if (conninfo.find("://") != std::string::npos) {
    std::string encoded;
    for (const char byte : host) {
      const bool is_plain = std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '.';
      encoded += is_plain ? std::string(1, byte)
                          : fmt::format("%{:02X}", static_cast<unsigned char>(byte));
    }
    return fmt::format("{}{}host={}&port={}", conninfo,
                       conninfo.find('?') == std::string::npos ? "?" : "&", encoded, port);
  }
  return fmt::format("{} host={} port={}", conninfo, quoted_conninfo(host),
                     port);  // the last word counts
}

PgSession::PgSession(PgOptions options)
    : options_(std::move(options)), impl_(std::make_unique<Impl>()) {}

PgSession::~PgSession() { close(); }

void PgSession::open() {
  if (impl_->connection) return;
  impl_->connection.emplace(conninfo_with_timeouts(options_));
  {
    std::lock_guard lock(impl_->socket_mutex);
    impl_->socket = impl_->connection->sock();
  }
  impl_->work.emplace(*impl_->connection);
  impl_->work->exec(session_settings(options_));
  if (!options_.cluster_id.empty()) check_cluster(*impl_->work, options_.cluster_id);
  if (options_.check_schema) check_schema(*impl_->work);
}

void PgSession::close() {
  {
    std::lock_guard lock(impl_->socket_mutex);
    impl_->socket = -1;
  }
  impl_->prepared.clear();
  try {
    impl_->work.reset();
    impl_->connection.reset();
  } catch (const std::exception&) {
    // Nothing is left to be done with a connection that fails while it closes.
  }
}

void PgSession::interrupt() {
  std::lock_guard lock(impl_->socket_mutex);
  if (impl_->socket >= 0) ::shutdown(impl_->socket, SHUT_RDWR);
}

PgOptions PgSession::options_here() const {
  PgOptions here = options_;
  if (!impl_->connection) return here;
  const char* host = impl_->connection->hostname();
  const char* port = impl_->connection->port();
  if (host != nullptr && port != nullptr) here.conninfo = conninfo_at(here.conninfo, host, port);
  return here;
}

PgResult PgSession::run(const std::string& sql) {
  try {
    open();
    return PgResult(std::make_shared<PgResult::Impl>(PgResult::Impl{impl_->work->exec(sql)}));
  } catch (const std::exception& error) {
    const std::string text = words_of(error);
    const bool is_lock_timeout = has_waited_for_lock(error);
    close();
    if (is_lock_timeout) throw PgLockTimeout(text);
    throw PgError(text);
  }
}

PgResult PgSession::call(const PgStatement& statement, const std::vector<std::string>& params) {
  try {
    open();
    // PostgreSQL looks at 63 bytes of a name only.
    const auto [found, is_new] =
        impl_->prepared.try_emplace(statement.name, fmt::format("s{}", impl_->prepared.size()));
    if (is_new) impl_->connection->prepare(found->second, statement.sql);
    pqxx::result rows =
        impl_->work->exec_prepared(found->second, pqxx::prepare::make_dynamic_params(params));
    return PgResult(std::make_shared<PgResult::Impl>(PgResult::Impl{std::move(rows)}));
  } catch (const std::exception& error) {
    const std::string text = words_of(error);
    close();
    throw PgError(text);
  }
}

}  // namespace hai
