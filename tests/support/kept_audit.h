#pragma once
// An audit log in memory, for tests: keeps what it is given, or refuses it.

#include <functional>
#include <mutex>
#include <vector>

#include "common/loop.h"
#include "server/control/audit_port.h"

namespace hai {

class KeptAudit final : public AuditLog {
 public:
  explicit KeptAudit(Loop& loop) : loop_(loop) {}

  void append(std::vector<AuditEntry> entries, std::function<void(Status)> done) override {
    const std::lock_guard lock(mutex_);
    if (is_away) return loop_.post([done] { done(unavailable("away")); });
    ++batches;
    entries_.insert(entries_.end(), entries.begin(), entries.end());
    loop_.post([done] { done(ok()); });
  }
  // From any thread.
  std::vector<AuditEntry> entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }

  bool is_away = false;  // of the loop's thread
  int batches = 0;

 private:
  Loop& loop_;
  mutable std::mutex mutex_;
  std::vector<AuditEntry> entries_;
};

}  // namespace hai
