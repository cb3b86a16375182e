#include "server/api/identity_board.h"

#include <algorithm>
#include <utility>

namespace hai {

bool IdentityBoard::follow(const std::vector<Event>& durable, const ClusterState& state) {
  const bool is_about_it = std::ranges::any_of(durable, [](const Event& event) {
    const auto* set = std::get_if<NodeIdentitySet>(&event.body);
    return std::holds_alternative<EpochStarted>(event.body) ||
           (set != nullptr && set->identity.revoked_at);
  });
  if (!is_about_it) return false;
  auto revoked = std::make_shared<Revoked>();
  for (const auto& [node, identity] : state.identities()) {
    if (identity.revoked_at) revoked->emplace(node, *identity.revoked_at);
  }
  const std::lock_guard lock(mutex_);
  revoked_ = std::move(revoked);
  return true;
}

Status identity_revoked(const std::string& node, UnixTime at) {
  return permission_denied(
      "the identity of {} was revoked at {}: an administrator must let it join anew (hai node "
      "token create, hai-agent join)",
      node, format_rfc3339(at));
}

Status IdentityBoard::admit(const std::string& node, UnixTime begins) const {
  const std::shared_ptr<const Revoked> revoked = [this] {
    const std::lock_guard lock(mutex_);
    return revoked_;
  }();
  const auto found = revoked->find(node);
  if (found == revoked->end() || begins > found->second) return ok();
  return identity_revoked(node, found->second);
}

}  // namespace hai
