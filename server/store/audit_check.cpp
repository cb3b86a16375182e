#include "server/store/audit_check.h"

#include <fmt/core.h>

#include <filesystem>
#include <map>

#include "server/store/audit_line.h"
#include "server/store/audit_log.h"
#include "server/store/audit_parts.h"
#include "server/store/line_file.h"

namespace hai {
namespace {

constexpr int kCheckPage = 10'000;

// Keeps the first of several sentences.
void keep_first(std::string& kept, std::string sentence) {
  if (kept.empty()) kept = std::move(sentence);
}

// A file that is being archived gets its name a moment after it is recorded.
std::string path_of(const std::string& dir, const ArchivedFile& file) {
  std::error_code error;
  const std::string path = final_path(dir, file);
  const std::string partial = partial_path(dir, file);
  if (!std::filesystem::exists(path, error) && std::filesystem::exists(partial, error)) {
    return partial;
  }
  return path;
}

// What the entries that were gone through say of archived parts: the first for each file.
class ArchiveEntries {
 public:
  void see(const AuditEntry& entry) {
    if (entry.call == "archive") details_.emplace(entry.target, entry.detail);
  }
  // `has_all`: every entry was gone through that the log has.
  void compare(const std::vector<AuditPart>& parts, bool has_all, LedgerReport& report) const {
    for (const AuditPart& part : parts) {
      const AuditEntry expected = entry_of_part(part, {});
      const auto found = details_.find(expected.target);
      if (found == details_.end()) continue;
      if (found->second == expected.detail) continue;
      report.differ(fmt::format("the audit log says of {}: {}; table audit_archive: {}",
                                part.file.name, found->second, expected.detail));
    }
    // Files that were read prove themselves; of the last other part the entry is in the table.
    if (has_all || parts.empty()) return;
    const AuditPart& last = parts.back();
    if (details_.contains(entry_of_part(last, {}).target)) return;
    report.differ(
        fmt::format("no entry of the audit log says that those up to {} were archived: they may "
                    "have been deleted. Look at them with --archive",
                    last.file.last_seq));
  }

 private:
  std::map<std::string, std::string> details_;
};

void check_part(const std::string& dir, const AuditPart& part, const AuditMark& start,
                ArchiveEntries& entries, LedgerReport& report) {
  const std::string path = path_of(dir, part.file);
  const Status same = check_file(path, part.file);
  if (!same.is_ok()) report.differ(std::string(same.message()));
  AuditChain chain(start);
  const Result<std::string> wrong =
      add_audit_file(path, chain, [&](const AuditRow& row) { entries.see(row.entry); });
  report.audit_entries += chain.rows();
  report.archived_audit_entries += chain.rows();
  if (!wrong.is_ok()) {
    if (same.is_ok()) report.differ(std::string(wrong.status().message()));
  } else if (!wrong.value().empty()) {
    report.differ(fmt::format("{}: {}", path, wrong.value()));
  } else if (chain.last() != part.end()) {
    report.differ(
        fmt::format("{} ends with entry {} of the audit log and the hash {}, the database "
                    "says {} and {}",
                    path, chain.last().seq, chain.last().hash, part.file.last_seq, part.last_hash));
  }
}

// Where the table begins.
AuditMark check_parts(const std::vector<AuditPart>& parts, const std::string& dir,
                      ArchiveEntries& entries, LedgerReport& report) {
  AuditMark end;
  for (const AuditPart& part : parts) {
    if (part.file.first_seq != end.seq + 1) {
      report.differ(
          fmt::format("the archived entries {} to {} of the audit log follow {}: those "
                      "between are gone",
                      part.file.first_seq, part.file.last_seq, end.seq));
    }
    if (!dir.empty()) check_part(dir, part, end, entries, report);
    end = part.end();
  }
  if (dir.empty()) report.unread_audit_entries = end.seq;
  return end;
}

}  // namespace

Result<std::string> add_audit_file(const std::string& path, AuditChain& chain,
                                   const std::function<void(const AuditRow&)>& seen) {
  const auto opened = LineReader::open(path);
  if (!opened.is_ok()) return opened.status();
  LineReader& reader = *opened.value();
  std::string wrong;
  std::string_view line;
  while (true) {
    const Result<bool> got = reader.next(line);
    if (!got.is_ok()) return got.status();
    if (!got.value()) return wrong;
    const Result<AuditRow> row = audit_row_from_line(line);
    if (!row.is_ok()) {
      return Status(Code::data_loss,
                    fmt::format("{}:{}: {}", path, reader.line_number(), row.status().message()));
    }
    if (seen) seen(row.value());
    keep_first(wrong, chain.add(row.value()));
  }
}

void check_audit(PgSession& session, const std::string& archive_dir, LedgerReport& report) {
  const std::vector<AuditPart> parts = audit_parts(session);
  ArchiveEntries entries;
  const AuditMark anchor = check_parts(parts, archive_dir, entries, report);
  AuditChain chain(anchor);
  std::string wrong;
  int64_t after = 0;
  for (;;) {
    const std::vector<AuditRow> page = audit_page(session, after, kCheckPage);
    for (const AuditRow& row : page) {
      entries.see(row.entry);
      if (row.seq > anchor.seq) {
        keep_first(wrong, chain.add(row));
      } else {
        keep_first(wrong, fmt::format("entry {} of the audit log is in the table, though it was "
                                      "archived",
                                      row.seq));
      }
    }
    if (page.size() < kCheckPage) break;
    after = page.back().seq;
  }
  if (chain.rows() == 0 && anchor.seq > 0) {
    keep_first(wrong, fmt::format("the audit log ends with the archived entry {}: the newest is "
                                  "never archived, so that later ones are gone",
                                  anchor.seq));
  }
  if (!wrong.empty()) report.differ(std::move(wrong));
  entries.compare(parts, !archive_dir.empty(), report);
  report.audit_entries += chain.rows();
}

}  // namespace hai
