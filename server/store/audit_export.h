#pragma once
// Where the audit log goes besides the database, so that whoever can change that cannot change all
// there is: a file of JSON lines, and the machine's syslog. Best kept or sent on by somebody else.
// One thread.

#include <string>
#include <vector>

#include "common/status.h"
#include "server/control/audit_port.h"

namespace hai {

struct AuditExportOptions {
  std::string file;     // appended to, for its owner alone; "" = none
  bool syslog = false;  // facility authpriv
};

// An entry as a line of JSON, without its end.
std::string audit_line(const AuditRow& row);

class AuditExport {
 public:
  explicit AuditExport(AuditExportOptions options) : options_(std::move(options)) {}
  ~AuditExport() { close(); }
  AuditExport(const AuditExport&) = delete;
  AuditExport& operator=(const AuditExport&) = delete;

  // Opens the file when it is not the one at its path any more, so that it may be moved away at any
  // time. What can't be written is said in the server's log: the database has it.
  void write(const std::vector<AuditRow>& rows);

 private:
  Status write_file(const std::vector<AuditRow>& rows);
  Status open();
  void close();

  const AuditExportOptions options_;
  int file_ = -1;
  bool is_failing_ = false;
};

}  // namespace hai
