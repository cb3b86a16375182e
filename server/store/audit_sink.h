#pragma once
// A place outside of the database that takes what is written into the audit log. One thread.

#include <optional>
#include <span>
#include <vector>

#include "common/status.h"
#include "server/control/audit_port.h"
#include "server/store/audit_chain.h"

namespace hai {

class AuditSink {
 public:
  virtual ~AuditSink() = default;

  // Makes it ready to take entries. Where it can tell by itself which was the last that it has
  // taken, it says so when it is opened anew.
  virtual Result<std::optional<AuditMark>> open() = 0;
  // Of the latest that it has taken, where it can tell: some thousands, in any order. After open().
  virtual std::vector<AuditMark> latest() const { return {}; }
  // In this order. `taken` becomes how many of them it has for sure, also after an error.
  virtual Status write(std::span<const AuditRow> rows, size_t& taken) = 0;
};

}  // namespace hai
