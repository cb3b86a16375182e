#include "server/store/audit_archive.h"

#include <algorithm>
#include <filesystem>

#include "common/json/json_text.h"
#include "server/store/archive_files.h"
#include "server/store/audit_check.h"
#include "server/store/audit_line.h"
#include "server/store/audit_log.h"
#include "server/store/line_file.h"

namespace hai {
namespace {

constexpr int kArchivePage = 5'000;

struct Span {
  int64_t first = 0;
  int64_t last = 0;  // before `first`: there are none
};

// The end of the beginning that is all old, but for the newest entry.
Span old_audit(PgSession& session, UnixTime older_than) {
  std::string time;
  append_time(time, older_than);
  const PgResult row = session.run(fmt::format(
      "SELECT coalesce(min(seq), 1), least(max(seq) - 1, min(seq) FILTER (WHERE at >= '{}') - 1)"
      " FROM audit",
      time));
  return {row.integer(0, 0), row.is_null(0, 1) ? 0 : row.integer(0, 1)};
}

// The first `count` of those that there are: somebody may have taken some away.
Span first_entries(PgSession& session, const Span& of, int64_t count) {
  const PgResult row = session.run(fmt::format(
      "SELECT coalesce(min(seq), 1), coalesce(max(seq), 0) FROM"
      " (SELECT seq FROM audit WHERE seq BETWEEN {} AND {} ORDER BY seq LIMIT {}) AS entries",
      of.first, of.last, count));
  return {row.integer(0, 0), row.integer(0, 1)};
}

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace

Status AuditArchiver::complete_earlier() const {
  const std::vector<AuditPart> parts = audit_parts(session_);
  for (const AuditPart& part : parts) {
    if (exists(partial_path(options_.dir, part.file)))
      RETURN_IF_ERROR(steps_.name_files({part.file}));
  }
  if (parts.empty() || options_.audit_older_than <= UnixTime{}) return ok();
  const ArchivedFile& last = parts.back().file;
  if (exists(final_path(options_.dir, last))) return ok();
  return failed_precondition(
      "{}: has no {}, the last archived part of the audit log: name the folder where it is with "
      "--dir, or bring it here",
      options_.dir, last.name);
}

Status AuditArchiver::run(ArchiveResult& result) const {
  Span old = old_audit(session_, options_.audit_older_than);
  while (old.first <= old.last) {
    const Span there = first_entries(session_, old, options_.part_entries);
    if (there.last < there.first) break;
    if (!options_.dry_run) {
      const Result<AuditPart> part = write(there.first, there.last);
      if (!part.is_ok()) return part.status();
      steps_.step("written");
      steps_.gently([&] { record_audit_part(session_, part.value()); });
      RETURN_IF_ERROR(steps_.name_files({part.value().file}));
    }
    if (result.first_audit == 0) result.first_audit = there.first;
    result.last_audit = there.last;
    ++result.audit_files;
    old.first = there.last + 1;
  }
  return ok();
}

Result<AuditPart> AuditArchiver::write(int64_t first, int64_t last) const {
  AuditPart part;
  part.file.first_seq = first;
  part.file.last_seq = last;
  part.file.name = audit_file_name(options_.cluster, first, last);
  // Of a log that went back with its database and grew again, other than it was.
  if (const std::string there = final_path(options_.dir, part.file); exists(there)) {
    return failed_precondition(
        "{} is there already, of a log that this database does not know: move it away", there);
  }
  const std::string path = partial_path(options_.dir, part.file);
  const AuditMark start = audit_anchor(session_);
  AuditChain chain(start);
  RETURN_IF_ERROR(copy(part, chain, path));
  part.last_hash = chain.last().hash;
  RETURN_IF_ERROR(read_again(path, start, chain));
  Result<std::string> sum = sha256_of_file(path);
  if (!sum.is_ok()) return sum.status();
  part.file.sha256 = std::move(sum).value();
  // The rows are deleted as soon as the part is recorded: then the file is all there is of them.
  RETURN_IF_ERROR(sync_folder(options_.dir));
  return part;
}

Status AuditArchiver::copy(AuditPart& part, AuditChain& chain, const std::string& path) const {
  auto writer = LineWriter::create(path, /*replace=*/true);
  if (!writer.is_ok()) return writer.status();
  const int64_t last = part.file.last_seq;
  for (int64_t seq = part.file.first_seq; seq <= last;) {
    const int limit = static_cast<int>(std::min<int64_t>(kArchivePage, last - seq + 1));
    const std::vector<AuditRow> page = audit_page(session_, seq - 1, limit);
    if (page.empty()) break;
    for (const AuditRow& row : page) {
      if (row.seq > last) break;
      const std::string wrong = chain.add(row);
      if (!wrong.empty() && !options_.audit_as_it_is) {
        return data_loss(wrong +
                         ". It stays where it is; --audit-as-it-is moves it, and what is wrong "
                         "with it, into the archive");
      }
      part.last_at = std::max(part.last_at, row.entry.at);
      RETURN_IF_ERROR(writer.value()->write(audit_line(row)));
    }
    seq = page.back().seq + 1;
  }
  return writer.value()->finish();
}

// What is on the disk now, read as whoever needs it one day will.
Status AuditArchiver::read_again(const std::string& path, const AuditMark& start,
                                 const AuditChain& written) const {
  AuditChain chain(start);
  const Result<std::string> wrong = add_audit_file(path, chain);
  if (!wrong.is_ok()) return wrong.status();
  if (!wrong.value().empty() && !options_.audit_as_it_is)
    return data_loss(path + ": " + wrong.value());
  if (chain.rows() == written.rows() && chain.last() == written.last()) return ok();
  return data_loss(path + ": other entries than written");
}

}  // namespace hai
