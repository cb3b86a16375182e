#include "server/store/audit_parts.h"

#include "common/json/json_text.h"
#include "server/store/audit_log.h"

namespace hai {
namespace {

constexpr PgStatement kRecordAuditPart{
    "audit_part_record",
    "INSERT INTO audit_archive (first_seq, last_seq, last_at, last_hash, file, sha256, archived_at)"
    " VALUES ($1::bigint, $2::bigint, $3::timestamptz, $4, $5, $6, now())"
    " RETURNING (extract(epoch FROM archived_at) * 1000000)::bigint"};

constexpr PgStatement kDelete{"audit_part_delete", "DELETE FROM audit WHERE seq <= $1::bigint"};

std::vector<AuditPart> read_parts(PgSession& session, const char* order) {
  const PgResult rows =
      session.run(fmt::format("SELECT first_seq, last_seq, (extract(epoch FROM last_at) * "
                              "1000000)::bigint, last_hash, file,"
                              " sha256 FROM audit_archive ORDER BY {}",
                              order));
  std::vector<AuditPart> parts;
  for (int row = 0; row < rows.size(); ++row) {
    parts.push_back({.file = {.name = std::string(rows.text(row, 4)),
                              .sha256 = std::string(rows.text(row, 5)),
                              .first_seq = rows.integer(row, 0),
                              .last_seq = rows.integer(row, 1)},
                     .last_at = unix_micros(rows.integer(row, 2)),
                     .last_hash = std::string(rows.text(row, 3))});
  }
  return parts;
}

}  // namespace

std::vector<AuditPart> audit_parts(PgSession& session) { return read_parts(session, "first_seq"); }

std::optional<AuditPart> last_audit_part(PgSession& session) {
  std::vector<AuditPart> parts = read_parts(session, "first_seq DESC LIMIT 1");
  if (parts.empty()) return std::nullopt;
  return std::move(parts.front());
}

AuditMark audit_anchor(PgSession& session) {
  const std::optional<AuditPart> part = last_audit_part(session);
  return part ? part->end() : AuditMark{};
}

AuditEntry entry_of_part(const AuditPart& part, UnixTime at) {
  return {.at = at,
          .call = "archive",
          .target = "archive/" + part.file.name,
          .result = "ok",
          .detail = fmt::format("entries {} to {}; the last has the hash {}; SHA-256 {}",
                                part.file.first_seq, part.file.last_seq, part.last_hash,
                                part.file.sha256)};
}

void record_audit_part(PgSession& session, const AuditPart& part) {
  std::string last_at;
  append_time(last_at, part.last_at);
  session.run("BEGIN; SET LOCAL synchronous_commit = on");
  const PgResult recorded = session.call(
      kRecordAuditPart, {std::to_string(part.file.first_seq), std::to_string(part.file.last_seq),
                         last_at, part.last_hash, part.file.name, part.file.sha256});
  session.call(kDelete, {std::to_string(part.file.last_seq)});
  // Last, because the servers' appends wait from here on.
  add_audit(session, {entry_of_part(part, unix_micros(recorded.integer(0, 0)))});
  session.run("COMMIT");
}

}  // namespace hai
