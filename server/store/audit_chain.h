#pragma once
// What makes the audit log's rows a chain: the hash of each is made of the one before and of all
// that the row says. Whoever changes or takes out a row has to write every later one anew, and what
// was exported meanwhile says otherwise.

#include <string>

#include "server/control/audit_port.h"

namespace hai {

// SHA-256, hex. `before` is the hash of the row before; "" = there is none.
std::string audit_hash(const std::string& before, int64_t seq, const AuditEntry& entry);

// Goes through rows by seq and finds the first that does not fit those before it.
class AuditChain {
 public:
  // What is wrong with it, in a sentence; "" = nothing. After that the chain goes on from this row.
  std::string add(const AuditRow& row);
  int64_t rows() const { return rows_; }
  int64_t last_seq() const { return last_seq_; }

 private:
  int64_t rows_ = 0;
  int64_t last_seq_ = 0;
  std::string last_hash_;
};

}  // namespace hai
