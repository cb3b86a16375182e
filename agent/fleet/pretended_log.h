#pragma once
// What a pretended rank has written: a line when it starts and one each second. Told from how long
// it has run, so that ten thousand logs cost nothing. Pure.

#include "common/log_messages.h"
#include "common/time.h"

namespace hai {

// `ran`: since its start, until now or its end.
LogChunk read_pretended_log(const LogRequest& request, Duration ran, bool has_ended);

}  // namespace hai
