#include "server/store/audit_positions.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "common/tls/replace_file.h"

namespace hai {
namespace {

constexpr size_t kHashDigits = 64;

}  // namespace

Status AuditPositions::load() {
  const Status status = read();
  is_readable_ = status.is_ok();
  if (!is_readable_) marks_.clear();
  return status;
}

Status AuditPositions::read() {
  marks_.clear();
  if (path_.empty()) return ok();
  std::ifstream file(path_);
  if (!file) {
    if (errno == ENOENT) return ok();
    return unavailable("{}: {}", path_, std::strerror(errno));
  }
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string place;
    AuditMark mark;
    const bool is_read = static_cast<bool>(words >> place >> mark.seq >> mark.hash);
    if (!is_read || mark.seq < 1 || mark.hash.size() != kHashDigits) {
      return invalid_argument("{}: not where the export of the audit log is: {}", path_,
                              line.substr(0, 100));
    }
    marks_[place] = mark;
  }
  return ok();
}

std::optional<AuditMark> AuditPositions::find(const std::string& place) const {
  const auto found = marks_.find(place);
  return found == marks_.end() ? std::nullopt : std::optional(found->second);
}

Status AuditPositions::set(const std::string& place, const AuditMark& mark) {
  marks_[place] = mark;
  if (path_.empty()) return ok();
  if (!is_readable_) {
    return failed_precondition(
        "{}: could not be read and is not replaced: mend or remove it and start the server again",
        path_);
  }
  std::string text;
  for (const auto& [name, at] : marks_) text += fmt::format("{} {} {}\n", name, at.seq, at.hash);
  return replace_file(path_, text, S_IRUSR | S_IWUSR);
}

}  // namespace hai
