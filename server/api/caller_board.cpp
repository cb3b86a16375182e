#include "server/api/caller_board.h"

#include <algorithm>
#include <utility>

#include "server/auth/token.h"
#include "server/control/verbs/decide.h"

namespace hai {
namespace {

bool is_about_callers(const Event& event) {
  return std::holds_alternative<EpochStarted>(event.body) ||
         std::holds_alternative<UserSet>(event.body) ||
         std::holds_alternative<TokenSet>(event.body) ||
         std::holds_alternative<TokenRevoked>(event.body);
}

}  // namespace

void CallerBoard::follow(const std::vector<Event>& durable, const ClusterState& state) {
  if (std::ranges::none_of(durable, is_about_callers)) return;
  auto callers = std::make_shared<Callers>();
  for (const auto& [hash, token] : state.tokens()) {
    const Result<Actor> actor = authenticate(state, {.token_hash = hash}, UnixTime{});
    callers->emplace(hash, Known{actor.is_ok() ? ok() : actor.status(), token.user});
  }
  const std::lock_guard lock(mutex_);
  callers_ = std::move(callers);
}

void CallerBoard::forget() {
  const std::lock_guard lock(mutex_);
  callers_ = nullptr;
}

Status CallerBoard::admit(const Caller& caller) const {
  const std::shared_ptr<const Callers> known = callers();
  if (!known || !caller.trusted_user.empty()) return ok();
  const auto found = known->find(caller.token_hash);
  if (found != known->end()) return found->second.status;
  static const ClusterState nobody;
  return authenticate(nobody, caller, UnixTime{}).status();
}

bool CallerBoard::knows(const Caller& caller) const {
  const std::shared_ptr<const Callers> known = callers();
  if (!known) return false;
  const auto found = known->find(caller.token_hash);
  return found != known->end() && found->second.status.is_ok();
}

CallerName CallerBoard::name_of(const Caller& caller) const {
  if (!caller.trusted_user.empty()) return {.user = caller.trusted_user, .token = ""};
  const std::shared_ptr<const Callers> known = callers();
  if (!known) return {};
  const auto found = known->find(caller.token_hash);
  if (found == known->end()) return {};
  return {.user = found->second.user, .token = token_id(caller.token_hash)};
}

std::shared_ptr<const CallerBoard::Callers> CallerBoard::callers() const {
  const std::lock_guard lock(mutex_);
  return callers_;
}

}  // namespace hai
