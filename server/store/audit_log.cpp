#include "server/store/audit_log.h"

#include "common/json/json_text.h"
#include "server/store/audit_chain.h"
#include "server/store/pg_array.h"
#include "server/store/pg_worker.h"

namespace hai {
namespace {

// One append is under way at a time.
constexpr size_t kQueueMax = 4;
constexpr Duration kLimit = 5s;

// "hai" and "aud": numbers that nobody else locks in this database (migrate.cpp has another).
constexpr const char* kBegin = "BEGIN; SELECT pg_advisory_xact_lock(68656973, 6175646)";

constexpr PgStatement kLast{"audit_last", "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1"};

constexpr PgStatement kInsert{
    "audit_insert",
    "INSERT INTO audit (seq, at, user_name, token, address, call, target, result, detail, hash)"
    " SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::text[],"
    " $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])"};

const std::string kColumns =
    "seq, (extract(epoch FROM at) * 1000000)::bigint, user_name, token, address, call, target,"
    " result, detail, hash";

std::vector<AuditRow> read_audit(const PgResult& rows) {
  std::vector<AuditRow> result;
  for (int row = 0; row < rows.size(); ++row) {
    AuditRow& read = result.emplace_back();
    read.seq = rows.integer(row, 0);
    read.entry.at = unix_micros(rows.integer(row, 1));
    int column = 2;
    for (std::string* field :
         {&read.entry.user, &read.entry.token, &read.entry.address, &read.entry.call,
          &read.entry.target, &read.entry.result, &read.entry.detail, &read.hash}) {
      *field = rows.text(row, column++);
    }
  }
  return result;
}

AuditEntry cleaned(AuditEntry entry) {
  for (std::string* field : {&entry.user, &entry.token, &entry.address, &entry.call, &entry.target,
                             &entry.result, &entry.detail}) {
    if (!is_clean_utf8(*field)) *field = clean_utf8(*field);
  }
  return entry;
}

}  // namespace

std::vector<AuditRow> append_audit(PgSession& session, const std::vector<AuditEntry>& entries) {
  session.run(kBegin);
  const PgResult last = session.call(kLast);
  int64_t seq = last.size() == 0 ? 0 : last.integer(0, 0);
  std::string hash(last.size() == 0 ? "" : last.text(0, 1));
  std::vector<AuditRow> rows;
  PgArray seqs, ats, hashes;
  std::array<PgArray, 7> texts;
  for (const AuditEntry& entry : entries) {
    AuditRow& row = rows.emplace_back(AuditRow{++seq, cleaned(entry), ""});
    row.hash = hash = audit_hash(hash, seq, row.entry);
    seqs.add(seq);
    ats.add(row.entry.at);
    size_t column = 0;
    for (const std::string* field :
         {&row.entry.user, &row.entry.token, &row.entry.address, &row.entry.call, &row.entry.target,
          &row.entry.result, &row.entry.detail}) {
      texts[column++].add(*field);
    }
    hashes.add(hash);
  }
  std::vector<std::string> params = {seqs.take(), ats.take()};
  for (PgArray& column : texts) params.push_back(column.take());
  params.push_back(hashes.take());
  session.call(kInsert, params);
  session.run("COMMIT");
  return rows;
}

std::vector<AuditRow> find_audit(PgSession& session, const AuditQuery& query) {
  std::string where;
  std::vector<std::string> params;
  const auto add = [&](std::string_view before, std::string parameter, std::string_view after) {
    params.push_back(std::move(parameter));
    where +=
        fmt::format("{}{}${}{}", where.empty() ? " WHERE " : " AND ", before, params.size(), after);
  };
  if (!query.user.empty()) add("user_name = ", query.user, "");
  if (!query.call.empty()) add("call = ", query.call, "");
  if (query.result == "refused") {
    add("result <> ", "ok", "");
  } else if (!query.result.empty()) {
    add("result = ", query.result, "");
  }
  if (!query.target.empty()) add("", query.target, "::text = ANY(string_to_array(target, ', '))");
  if (query.since) add("at >= ", format_rfc3339(*query.since), "::timestamptz");
  if (query.before_seq) add("seq < ", std::to_string(*query.before_seq), "::bigint");
  params.push_back(std::to_string(query.limit));
  const std::string sql = fmt::format("SELECT {} FROM audit{} ORDER BY seq DESC LIMIT ${}::integer",
                                      kColumns, where, params.size());
  const std::string name = "find_audit" + where;
  return read_audit(session.call({name.c_str(), sql.c_str()}, params));
}

std::vector<AuditRow> audit_page(PgSession& session, int64_t after_seq, int limit) {
  static const std::string sql = fmt::format(
      "SELECT {} FROM audit WHERE seq > $1::bigint ORDER BY seq LIMIT $2::integer", kColumns);
  return read_audit(session.call({"audit_page", sql.c_str()},
                                 {std::to_string(after_seq), std::to_string(limit)}));
}

struct PgAuditLog::Impl {
  AuditExport exported;  // of the worker's thread
  PgWorker worker;       // its thread uses all above

  Impl(Loop& loop, std::string conninfo, AuditExportOptions options)
      : exported(std::move(options)), worker(loop, {.conninfo = std::move(conninfo)}, kQueueMax) {}
};

PgAuditLog::PgAuditLog(Loop& loop, std::string conninfo, AuditExportOptions exported)
    : impl_(std::make_unique<Impl>(loop, std::move(conninfo), std::move(exported))) {}
PgAuditLog::~PgAuditLog() = default;

void PgAuditLog::append(std::vector<AuditEntry> entries, std::function<void(Status)> done) {
  impl_->worker.submit(
      [impl = impl_.get(), entries = std::move(entries)](PgSession& session) {
        impl->exported.write(append_audit(session, entries));
        return ok();
      },
      std::move(done), kLimit);
}

}  // namespace hai
