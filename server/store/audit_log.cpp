#include "server/store/audit_log.h"

#include "common/json/json_text.h"
#include "server/store/audit_chain.h"
#include "server/store/audit_parts.h"
#include "server/store/pg_array.h"
#include "server/store/pg_filter.h"
#include "server/store/pg_worker.h"

namespace hai {
namespace {

// One append and one look at the export are under way at a time.
constexpr size_t kAuditQueueMax = 4;
constexpr Duration kAuditLimit = 5s;
constexpr Duration kLookPeriod = 1s;

// "hai" and "aud": numbers that nobody else locks in this database (migrate.cpp has another).
constexpr const char* kAuditLock = "SELECT pg_advisory_xact_lock(68656973, 6175646)";

constexpr PgStatement kLast{
    "audit_last",
    "(SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1) UNION ALL"
    " (SELECT last_seq, last_hash FROM audit_archive ORDER BY first_seq DESC LIMIT 1)"
    " ORDER BY seq DESC LIMIT 1"};

constexpr PgStatement kCommon{
    "audit_common",
    "SELECT seq, hash FROM unnest($1::bigint[], $2::text[]) AS mark(seq, hash)"
    " WHERE EXISTS (SELECT FROM audit WHERE audit.seq = mark.seq AND audit.hash = mark.hash)"
    " OR EXISTS (SELECT FROM audit_archive WHERE last_seq = mark.seq AND last_hash = mark.hash)"
    " ORDER BY seq DESC LIMIT 1"};

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

// Who goes back page by page must not take the end of the table for the end of the log.
Status check_not_archived(PgSession& session, const AuditQuery& query) {
  const std::optional<AuditPart> part = last_audit_part(session);
  const bool is_kept = !part || *query.before_seq > part->file.last_seq + 1;
  if (is_kept || (query.since && part->last_at < *query.since)) return ok();
  return not_found(
      "entries 1 to {} of the audit log, up to {}, are archived: they are lines of the -audit "
      "files of hai-server archive",
      part->file.last_seq, format_rfc3339(part->last_at));
}

}  // namespace

AuditMark last_audit_mark(PgSession& session) {
  const PgResult last = session.call(kLast);
  if (last.size() == 0) return {};
  return {last.integer(0, 0), std::string(last.text(0, 1))};
}

std::optional<AuditMark> last_common_mark(PgSession& session, const std::vector<AuditMark>& marks) {
  if (marks.empty()) return std::nullopt;
  PgArray seqs, hashes;
  for (const AuditMark& mark : marks) {
    seqs.add(mark.seq);
    hashes.add(mark.hash);
  }
  const PgResult found = session.call(kCommon, {seqs.take(), hashes.take()});
  if (found.size() == 0) return std::nullopt;
  return AuditMark{found.integer(0, 0), std::string(found.text(0, 1))};
}

std::vector<AuditRow> append_audit(PgSession& session, const std::vector<AuditEntry>& entries) {
  session.run("BEGIN");
  std::vector<AuditRow> rows = add_audit(session, entries);
  session.run("COMMIT");
  return rows;
}

std::vector<AuditRow> add_audit(PgSession& session, const std::vector<AuditEntry>& entries) {
  session.run(kAuditLock);
  auto [seq, hash] = last_audit_mark(session);
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
  return rows;
}

Result<std::vector<AuditRow>> find_audit(PgSession& session, const AuditQuery& query) {
  if (query.before_seq) RETURN_IF_ERROR(check_not_archived(session, query));
  PgFilter filter("find_audit");
  if (!query.user.empty()) filter.add("user_name = $", clean_utf8(query.user));
  if (!query.call.empty()) filter.add("call = $", clean_utf8(query.call));
  if (query.result == "refused") {
    filter.add("result <> $", "ok");
  } else if (!query.result.empty()) {
    filter.add("result = $", query.result);
  }
  if (!query.target.empty()) {
    filter.add("$::text = ANY(string_to_array(target, ', '))", clean_utf8(query.target));
  }
  if (query.since) filter.add("at >= $::timestamptz", format_rfc3339(*query.since));
  if (query.before_seq) filter.add("seq < $::bigint", std::to_string(*query.before_seq));
  return read_audit(filter.select(session, kColumns, "audit", "seq DESC", query.limit));
}

std::vector<AuditRow> audit_page(PgSession& session, int64_t after_seq, int limit) {
  static const std::string sql = fmt::format(
      "SELECT {} FROM audit WHERE seq > $1::bigint ORDER BY seq LIMIT $2::integer", kColumns);
  return read_audit(session.call({"audit_page", sql.c_str()},
                                 {std::to_string(after_seq), std::to_string(limit)}));
}

struct PgAuditLog::Impl {
  Loop& loop;
  AuditExport exported;  // but for missing() of the worker's thread
  TimerId timer = 0;     // of the next look
  PgWorker worker;       // its thread uses all above

  Impl(Loop& used_loop, std::string conninfo, const AuditExportOptions& options)
      : loop(used_loop),
        exported(options),
        worker(loop, {.conninfo = std::move(conninfo)}, kAuditQueueMax) {
    if (exported.has_places()) look_after(Duration(0));
  }
  ~Impl() { loop.cancel(timer); }

  void look_after(Duration pause) {
    timer = loop.call_after(pause, [this] {
      timer = 0;
      look();
    });
  }
  // Other servers write, too, and what was not taken is tried again. Appends get their turn between
  // two pages.
  void look() {
    const auto has_more = std::make_shared<bool>(false);
    worker.submit(
        [this, has_more](PgSession& session) {
          *has_more = exported.catch_up(session);
          return ok();
        },
        [this, has_more](const Status&) { look_after(*has_more ? Duration(0) : kLookPeriod); },
        kAuditLimit);
  }
};

PgAuditLog::PgAuditLog(Loop& loop, std::string conninfo, const AuditExportOptions& exported)
    : impl_(std::make_unique<Impl>(loop, std::move(conninfo), exported)) {}
PgAuditLog::~PgAuditLog() = default;

void PgAuditLog::append(std::vector<AuditEntry> entries, std::function<void(Status)> done) {
  impl_->worker.submit(
      [impl = impl_.get(), entries = std::move(entries)](PgSession& session) {
        impl->exported.written(append_audit(session, entries));
        return ok();
      },
      std::move(done), kAuditLimit);
}

std::map<std::string, int64_t> PgAuditLog::not_exported() const {
  return impl_->exported.missing();
}

}  // namespace hai
