#pragma once
// An entry of the audit log as a line of JSON, as it stands in exports and archives.

#include <string>
#include <string_view>

#include "common/status.h"
#include "server/control/audit_port.h"

namespace hai {

// Without its end. The texts are valid UTF-8: others come back changed.
std::string audit_line(const AuditRow& row);
// `invalid_argument` for what is no such line; members that it does not know are passed over.
Result<AuditRow> audit_row_from_line(std::string_view line);

}  // namespace hai
