#include "server/api/sealed_environments.h"

#include <algorithm>

#include "common/spec/check_job_spec.h"
#include "common/spec/sealed_value.h"
#include "server/control/verbs/decide.h"

namespace hai {

namespace {

bool is_to_seal(const std::string& value) { return value.starts_with(kToSealMark); }
bool is_sealed(const std::string& value) { return value.starts_with(kSealedMark); }

// No secret's name has a slash: neither opens as the other.
std::string bound_to(const std::string& user, const std::string& variable) {
  return user + "/environments/" + variable;
}

Result<std::string> open(const Sealer& sealer, const std::string& user, const std::string& variable,
                         const std::string& value) {
  return sealer.open(bound_to(user, variable), std::string_view(value).substr(kSealedMark.size()));
}

// What is sealed there, if it is the same; else "".
std::string sealed_before(const Sealer& sealer, const std::string& user, const JobSpec* known,
                          const std::string& variable, std::string_view text) {
  if (known == nullptr) return "";
  const auto found = known->environments.find(variable);
  if (found == known->environments.end() || !is_sealed(found->second)) return "";
  Result<std::string> opened = open(sealer, user, variable, found->second);
  if (!opened.is_ok()) return "";
  const bool is_same = opened.value() == text;
  wipe(opened.value());
  return is_same ? found->second : "";
}

}  // namespace

Status seal_for(Controller& controller, const Caller& caller, const Sealer* sealer,
                const std::string& request_id, JobSpec& spec) {
  if (std::ranges::none_of(spec.environments,
                           [](const auto& each) { return is_to_seal(each.second); })) {
    return ok();
  }
  const ClusterState& state = controller.state();
  const Result<Actor> actor = authenticate(state, caller, controller.soft_facts().now);
  if (!actor.is_ok()) {  // the controller says so, or that it does not lead
    for (auto& [variable, value] : spec.environments) {
      if (is_to_seal(value)) wipe(value);
    }
    return ok();
  }
  const std::string& user = actor.value().user;
  const std::optional<JobId> same =
      request_id.empty() ? std::nullopt : state.find_request(user, request_id);
  const Job* known = same ? state.find(*same) : nullptr;
  RETURN_IF_ERROR(
      seal_environments(sealer, user, known == nullptr ? nullptr : known->spec.get(), spec));
  return to_status(check_job_spec(spec));  // it has become longer
}

Status seal_environments(const Sealer* sealer, const std::string& user, const JobSpec* known,
                         JobSpec& spec) {
  for (auto& [variable, value] : spec.environments) {
    if (!is_to_seal(value)) continue;
    if (sealer == nullptr) {
      return failed_precondition(
          "spec.environments.{}: this server seals nothing: its config names no secrets.key_file; "
          "an administrator makes one (docs/operations/secrets.md)",
          variable);
    }
    const std::string_view text = std::string_view(value).substr(kToSealMark.size());
    std::string sealed = sealed_before(*sealer, user, known, variable, text);
    if (sealed.empty()) {
      sealed = std::string(kSealedMark) + sealer->seal(bound_to(user, variable), text);
    }
    wipe(value);
    value = std::move(sealed);
  }
  return ok();
}

bool has_sealed(const LaunchRank& order) {
  return !order.secrets.empty() || std::ranges::any_of(order.environments, [](const auto& each) {
    return is_sealed(each.second);
  });
}

Status open_environments(const Sealer* sealer, LaunchRank& order) {
  for (auto& [variable, value] : order.environments) {
    if (!is_sealed(value)) continue;
    if (sealer == nullptr) return failed_precondition("the server has no secrets.key_file");
    Result<std::string> opened = open(*sealer, order.user, variable, value);
    if (!opened.is_ok()) {
      return failed_precondition("the secret value of {} does not open: {}; submit it again",
                                 variable, opened.status().message());
    }
    value = opened.value();
    wipe(opened.value());
  }
  return ok();
}

}  // namespace hai
