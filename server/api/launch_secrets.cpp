#include "server/api/launch_secrets.h"

#include "common/launch_refusal.h"
#include "server/api/sealed_environments.h"

namespace hai {

namespace {

Result<std::string> open_secret(const ClusterState& state, const Sealer* sealer,
                                const std::string& user, const std::string& name) {
  const Secret* secret = state.find_secret(user, name);
  if (secret == nullptr) {
    return not_found("the secret {} of {} is not there any more: hai secret set {}", name, user,
                     name);
  }
  const Status why =
      sealer == nullptr ? failed_precondition("the server has no secrets.key_file") : ok();
  Result<std::string> value =
      why.is_ok() ? sealer->open(seal_name(user, name), secret->sealed) : Result<std::string>(why);
  if (value.is_ok()) return value;
  return failed_precondition("the secret {} of {} does not open: {}; set it again", name, user,
                             value.status().message());
}

}  // namespace

std::string seal_name(const std::string& user, const std::string& name) {
  return user + "/" + name;
}

void open_secrets(const ClusterState& state, const Sealer* sealer, LaunchRank& order) {
  size_t bytes = 0;
  Status status = open_environments(sealer, order);
  for (const auto& [variable, name] : order.secrets) {
    if (!status.is_ok()) break;
    Result<std::string> value = open_secret(state, sealer, order.user, name);
    status = value.status();
    if (!status.is_ok()) break;
    bytes += value.value().size();
    std::string& place = order.environments[variable];
    place = value.value();
    wipe(value.value());
    if (bytes > kLaunchSecretBytesMax) {
      status = invalid_argument("the job's secrets have more than {} KiB in all",
                                kLaunchSecretBytesMax >> 10);
      break;
    }
  }
  order.secrets.clear();
  if (status.is_ok()) return;
  wipe_environments(order);
  order.environments.emplace(kLaunchRefusal, status.message());
}

void wipe_environments(LaunchRank& order) {
  for (auto& [variable, value] : order.environments) wipe(value);
  order.environments.clear();
}

}  // namespace hai
