// The audit log.

#include "server/api/answers.h"
#include "server/api/operations.h"

namespace hai {

Prepared<v1::ListAuditReply> Operations::ListAudit(const v1::ListAuditRequest&) {
  return unavailable("not there yet");
}

}  // namespace hai
