#include "server/store/audit_export.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/json/json_text.h"
#include "common/log.h"

namespace hai {
namespace {

Status failure(const std::string& path, const char* what) {
  return unavailable("{}: {}: {}", path, what, std::strerror(errno));
}

}  // namespace

std::string audit_line(const AuditRow& row) {
  std::string line = fmt::format("{{\"seq\":{},\"at\":\"", row.seq);
  append_time(line, row.entry.at);
  line += '"';
  const std::pair<const char*, const std::string&> fields[] = {
      {"user", row.entry.user},       {"token", row.entry.token},
      {"address", row.entry.address}, {"call", row.entry.call},
      {"target", row.entry.target},   {"result", row.entry.result},
      {"text", row.entry.detail},     {"hash", row.hash}};
  for (const auto& [name, text] : fields) {
    line += fmt::format(",\"{}\":", name);
    append_json_string(line, text);
  }
  return line + '}';
}

void AuditExport::write(const std::vector<AuditRow>& rows) {
  if (options_.syslog) {
    for (const AuditRow& row : rows) {
      ::syslog(LOG_AUTHPRIV | (row.entry.result == "ok" ? LOG_INFO : LOG_NOTICE), "hai-audit: %s",
               audit_line(row).c_str());
    }
  }
  if (options_.file.empty()) return;
  const Status written = write_file(rows);
  if (!written.is_ok() && !is_failing_) {
    log_warning("audit_file_not_written", {{"first_seq", rows.front().seq}, {"reason", written}});
  }
  is_failing_ = !written.is_ok();
}

Status AuditExport::write_file(const std::vector<AuditRow>& rows) {
  RETURN_IF_ERROR(open());
  std::string text;
  for (const AuditRow& row : rows) text += audit_line(row) + '\n';
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t count = ::write(file_, left.data(), left.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(options_.file, "write");
    left.remove_prefix(static_cast<size_t>(count));
  }
  return ok();
}

Status AuditExport::open() {
  struct stat here {};
  struct stat opened {};
  const bool is_here = ::stat(options_.file.c_str(), &here) == 0;
  if (file_ >= 0 && ::fstat(file_, &opened) == 0 && is_here && here.st_ino == opened.st_ino &&
      here.st_dev == opened.st_dev) {
    return ok();
  }
  close();
  file_ = ::open(options_.file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                 S_IRUSR | S_IWUSR);
  return file_ >= 0 ? ok() : failure(options_.file, "open");
}

void AuditExport::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

}  // namespace hai
