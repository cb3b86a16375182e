#pragma once
// Signing in with munge, on the machines of a site that has it: no token is kept but that of a
// session, in a file that only its user can read, until it ends.

#include <string>

#include "cli/context_config.h"
#include "common/status.h"
#include "common/tls/tls_files.h"

namespace hai::cli {

// The token of a session with the context's cluster: the one that was kept, or of a new one.
Result<std::string> munge_session(const Context& context, const TlsTexts& tls);
// The one that was kept does not hold any more.
void forget_munge_session(const Context& context);

}  // namespace hai::cli
