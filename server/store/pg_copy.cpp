#include "server/store/pg_copy.h"

#include <libpq-fe.h>
#include <poll.h>

namespace hai {
namespace {

// A database that hangs must not hang a server that could stand by for another.
constexpr int kSilenceMaxMs = 30'000;
constexpr size_t kHeaderBytes = 11 + 4 + 4;  // signature, flags, length of the extension

}  // namespace

struct PgCopy::Impl {
  PGconn* connection = nullptr;
  bool is_first = true;
  bool is_over = false;

  ~Impl() { PQfinish(connection); }

  [[noreturn]] void fail() const { throw PgError(one_line_of(PQerrorMessage(connection))); }

  void run(const std::string& sql, ExecStatusType wanted) {
    PGresult* result = PQexec(connection, sql.c_str());
    const ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    if (status != wanted) fail();
  }

  // The next message, "" at the end.
  std::string_view next(char*& buffer) {
    for (;;) {
      const int size = PQgetCopyData(connection, &buffer, /*async=*/1);
      if (size > 0) return {buffer, static_cast<size_t>(size)};
      if (size == -2) fail();
      if (size == -1) return {};
      pollfd ready{.fd = PQsocket(connection), .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, kSilenceMaxMs) == 0) throw PgError("no rows came for 30 s");
      if (PQconsumeInput(connection) == 0) fail();
    }
  }

  void finish() {
    PGresult* result = PQgetResult(connection);
    const bool good = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (!good) fail();
  }
};

PgCopy::PgCopy(const PgOptions& options, const std::string& snapshot, const std::string& select)
    : impl_(std::make_unique<Impl>()) {
  impl_->connection = PQconnectdb(conninfo_with_timeouts(options).c_str());
  if (PQstatus(impl_->connection) != CONNECTION_OK) impl_->fail();
  // The index on the state, whatever the statistics say after a burst of submits: the history must
  // not be read.
  impl_->run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '" +
                 snapshot +
                 "'; SET LOCAL jit = off; SET LOCAL enable_seqscan = off; SET LOCAL "
                 "statement_timeout = '1min'",
             PGRES_COMMAND_OK);
  impl_->run("COPY (" + select + ") TO STDOUT (FORMAT binary)", PGRES_COPY_OUT);
}

PgCopy::~PgCopy() = default;

std::string PgCopy::read(size_t bytes) {
  std::string rows;
  while (!impl_->is_over && rows.size() < bytes) {
    char* buffer = nullptr;
    std::string_view message = impl_->next(buffer);
    if (message.empty()) {
      impl_->is_over = true;
      impl_->finish();
    }
    if (std::exchange(impl_->is_first, false)) {
      message.remove_prefix(std::min(message.size(), kHeaderBytes));
    }
    // The trailer is a row of −1 fields.
    if (message.size() > sizeof(int16_t)) rows += message;
    PQfreemem(buffer);
  }
  return rows;
}

}  // namespace hai
