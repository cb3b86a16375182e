#include "common/version.h"

namespace hai {

std::string_view version() { return HAI_VERSION; }

}  // namespace hai
