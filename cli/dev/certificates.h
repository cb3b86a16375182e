#pragma once
// The authority of a dev cluster and what it has issued.

#include <string>
#include <vector>

#include "common/status.h"
#include "common/tls/authority_folder.h"

namespace hai::cli {

// Makes the authority, the pair of the server and those of the nodes: what is missing, and what
// will not hold much longer. What is there stays, so that who believes the CA goes on doing so.
Status keep_certificates(const AuthorityFolder& folder, const std::vector<std::string>& nodes);

}  // namespace hai::cli
