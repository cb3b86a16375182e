#pragma once
// What makes the audit log's rows a chain: the hash of each is made of the one before and of all
// that the row says. Whoever changes or takes out a row has to write every later one anew, and what
// was exported meanwhile says otherwise.

#include <string>
#include <utility>

#include "server/control/audit_port.h"

namespace hai {

// SHA-256, hex. `before` is the hash of the row before; "" = there is none.
std::string audit_hash(const std::string& before, int64_t seq, const AuditEntry& entry);

// A place in the chain: after this row. 0 and "" = before the first.
struct AuditMark {
  int64_t seq = 0;
  std::string hash;
  bool operator==(const AuditMark&) const = default;
};

// Goes through rows by seq and finds the first that does not fit those before it.
class AuditChain {
 public:
  explicit AuditChain(AuditMark start = {}) : last_(std::move(start)) {}

  // What is wrong with it, in a sentence; "" = nothing. After that the chain goes on from this row.
  std::string add(const AuditRow& row);
  int64_t rows() const { return rows_; }  // added so far
  const AuditMark& last() const { return last_; }

 private:
  int64_t rows_ = 0;
  AuditMark last_;
};

}  // namespace hai
