#pragma once
// The audit log in the machine's syslog, facility authpriv. Not by syslog(3), which does not say
// that nobody has taken a message: then it would be missing there for good.

#include <string>

#include "server/store/audit_sink.h"

namespace hai {

class AuditSyslog final : public AuditSink {
 public:
  explicit AuditSyslog(std::string socket) : path_(std::move(socket)) {}
  ~AuditSyslog() override { close(); }
  AuditSyslog(const AuditSyslog&) = delete;
  AuditSyslog& operator=(const AuditSyslog&) = delete;

  Result<std::optional<AuditMark>> open() override;
  // Never waits: `unavailable` if the socket is full or nobody listens any more.
  Status write(std::span<const AuditRow> rows, size_t& taken) override;

 private:
  void close();

  const std::string path_;  // "/dev/log"
  int socket_ = -1;
};

}  // namespace hai
