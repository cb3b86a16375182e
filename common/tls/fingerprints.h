#pragma once
// How a person tells a program which CA to believe: by its fingerprint.

#include <string>
#include <vector>

#include "common/status.h"

namespace hai {

// "sha256:HEX,sha256:HEX": the fingerprints, in lower case. An error says what --ca-fingerprint,
// the option of all programs that take one, must be.
Result<std::vector<std::string>> parse_fingerprints(const std::string& text);

}  // namespace hai
