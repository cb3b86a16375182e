#pragma once
// Errors of the REST interface: problem+json (RFC 9457) with the canonical code as a word.

#include "common/status.h"
#include "server/http/http_message.h"

namespace hai {

int http_status(Code code);
HttpResponse problem(const Status& status);
// For errors HTTP itself knows and Status does not, e.g. 405.
HttpResponse problem(int http_status, std::string_view code, std::string_view detail);

}  // namespace hai
