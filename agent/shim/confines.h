#pragma once
// What holds the programs of one rank, made once before the first of them starts.

#include <optional>

#include "agent/os/launch_file.h"
#include "agent/os/rank_directory.h"
#include "agent/shim/call_filter.h"
#include "agent/shim/private_mounts.h"
#include "agent/shim/user_identity.h"
#include "common/status.h"

namespace hai {

struct Confines {
  std::optional<PrivateMounts> mounts;
  std::optional<CallFilter> calls;  // and no privileges
};

// The rank's temporary directory must be there and still be root's. `image`: of a rank that runs in
// one. invalid_argument: what the job asks for is not to be had.
Result<Confines> make_confines(const LaunchFile& launch, const UserIdentity& user,
                               const RankDirectory& directory, const ImageFile& image);

}  // namespace hai
