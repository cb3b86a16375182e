#pragma once
// Why a job waits, for people: `hai why` and `hai whatif` show it alike.

#include <string>

#include "cli/terminal.h"

namespace hai::v1 {
class WhyJobReply;
}

namespace hai::cli {

std::string why_text(const v1::WhyJobReply& why, const Terminal& terminal);

}  // namespace hai::cli
