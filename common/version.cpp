#include "common/version.h"

namespace hai {

std::string_view version() { return source_version(); }

// Weak: the linker takes a program's own instead, if it has one.
__attribute__((weak)) std::string_view source_version() { return HAI_VERSION; }

}  // namespace hai
