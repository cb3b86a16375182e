#pragma once
// How far the audit log was exported, for the server that comes after this one: a small file with a
// line for each place, "syslog 4711 HASH".

#include <map>
#include <optional>
#include <string>

#include "common/status.h"
#include "server/store/audit_chain.h"

namespace hai {

class AuditPositions {
 public:
  // "" = nothing is kept.
  explicit AuditPositions(std::string path) : path_(std::move(path)) {}

  // `invalid_argument` for a file that is none of these; one that is not there is empty.
  Status load();
  // Also of set().
  std::optional<AuditMark> find(const std::string& place) const;
  // Replaces the file, but `failed_precondition` for one that load() could not read: whoever mends
  // it finds what was in it.
  Status set(const std::string& place, const AuditMark& mark);

 private:
  Status read();

  const std::string path_;
  bool is_readable_ = true;
  std::map<std::string, AuditMark> marks_;
};

}  // namespace hai
