#include "agent/shim/confines.h"

namespace hai {

Result<Confines> make_confines(const LaunchFile& launch, const UserIdentity& user) {
  Confines confines;
  if (launch.confinement.has_own_mounts) {
    Result<PrivateMounts> mounts = PrivateMounts::make(
        {.temp_dir = launch.temp_dir, .kept = launch.confinement.kept_paths}, user);
    if (!mounts.is_ok()) return mounts.status();
    confines.mounts = std::move(mounts).value();
  }
  if (launch.confinement.drops_privileges) {
    Result<CallFilter> calls = CallFilter::make(launch.confinement.allowed_calls);
    if (!calls.is_ok()) return calls.status();
    confines.calls = std::move(calls).value();
  }
  return confines;
}

}  // namespace hai
