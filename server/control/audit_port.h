#pragma once
// The audit log: who did, or tried, what. It is kept beside the state, since it is also about those
// who were let do nothing. Calls and callbacks happen on the loop's thread; callbacks never come
// from inside the call.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/time.h"

namespace hai {

// Texts are valid UTF-8 and short: who notes them sees to it.
struct AuditEntry {
  UnixTime at{};
  std::string user;     // "" = nobody known, or hai itself
  std::string token;    // its id, never what it is; "" = none that is known
  std::string address;  // of the caller; "" = not known
  std::string call;     // "ControlJob"; "agent" of agents, "unix_groups" of the server itself
  std::string target;   // "job/17", "node/node-3", "user/ann"; several with ", " between them
  std::string result;   // "ok" or the word of the error
  std::string detail;   // the verb, the error's text
  bool operator==(const AuditEntry&) const = default;
};

// As it is kept: `hash` covers the row before it, too (server/store/audit_chain.h).
struct AuditRow {
  int64_t seq = 0;
  AuditEntry entry;
  std::string hash;
};

// Empty members do not filter. Newest first.
struct AuditQuery {
  std::string user;
  std::string call;
  std::string result;  // "refused" = whatever is not ok
  std::string target;  // one of those of an entry
  std::optional<UnixTime> since;
  std::optional<int64_t> before_seq;
  int limit = 100;
};

class AuditLog {
 public:
  virtual ~AuditLog() = default;
  // All or none of them, in this order, after what others have written.
  virtual void append(std::vector<AuditEntry> entries, std::function<void(Status)> done) = 0;
};

}  // namespace hai
