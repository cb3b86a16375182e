#include "server/api/caller_board.h"

#include <algorithm>
#include <utility>

#include "server/auth/token.h"
#include "server/control/verbs/tokens.h"

namespace hai {
namespace {

constexpr Duration kSessionUses = 5min;
constexpr Duration kOtherUses = 1h;

// Notes of the use of an API token are of the hour, those of sessions of the moment.
bool is_news(const Token& token, UnixTime used) {
  if (token.kind == TokenKind::session) {
    return used - token.last_used_at.value_or(token.created_at) >= kSessionUses;
  }
  if (!token.last_used_at) return true;
  const auto hour = [](UnixTime at) { return to_micros(at) / kOtherUses.count(); };
  return used > *token.last_used_at && hour(used) != hour(*token.last_used_at);
}

}  // namespace

bool CallerBoard::follow(const std::vector<Event>& durable, const ClusterState& state) {
  bool is_told = false;
  const std::unique_lock lock(mutex_);
  for (const Event& event : durable) {
    if (std::holds_alternative<EpochStarted>(event.body)) {
      ++accounts_version_;
      people_.emplace().users = state.users();
      for (const auto& [hash, token] : state.tokens()) put(token);
      return true;
    }
    if (!people_) continue;
    if (const auto* user = std::get_if<UserSet>(&event.body)) {
      ++accounts_version_;
      people_->users.insert_or_assign(user->user.name, user->user);
    } else if (const auto* removed = std::get_if<UserRemoved>(&event.body)) {
      ++accounts_version_;
      people_->users.erase(removed->user);
    } else if (const auto* set = std::get_if<TokenSet>(&event.body)) {
      put(set->token);
    } else if (const auto* revoked = std::get_if<TokenRevoked>(&event.body)) {
      people_->tokens.erase(revoked->hash);
    } else if (const auto* used = std::get_if<TokensUsed>(&event.body)) {
      for (const auto& [hash, at] : used->used) {
        const auto found = people_->tokens.find(hash);
        if (found != people_->tokens.end()) found->second->token.last_used_at = at;
      }
    } else {
      continue;
    }
    is_told = true;
  }
  return is_told;
}

void CallerBoard::put(const Token& token) {
  auto& known = people_->tokens[token.hash];
  if (known) {
    known->token = token;
  } else {
    known = std::make_unique<Known>(token);
  }
}

void CallerBoard::forget() {
  const std::unique_lock lock(mutex_);
  people_.reset();
}

// Under the lock, while there are people.
Status CallerBoard::judge(const Caller& caller, const Known** found) const {
  if (caller.is_server || !caller.trusted_user.empty()) return ok();
  static const ClusterState nobody;
  if (caller.token_hash.empty()) return authenticate(nobody, caller, wall_now_()).status();
  const auto known = people_->tokens.find(caller.token_hash);
  if (known == people_->tokens.end()) return check_token(nullptr, wall_now_());
  const Token& token = known->second->token;
  const UnixTime used = unix_micros(known->second->used_us.load(std::memory_order_relaxed));
  RETURN_IF_ERROR(check_token(&token, wall_now_(), used));
  const auto user = people_->users.find(token.user);
  const User* person = user == people_->users.end() ? nullptr : &user->second;
  RETURN_IF_ERROR(hai::actor_of(token.user, person, token.scope).status());
  *found = known->second.get();
  return ok();
}

Status CallerBoard::admit(const Caller& caller) const {
  const std::shared_lock lock(mutex_);
  if (!people_) return ok();
  const Known* found = nullptr;
  RETURN_IF_ERROR(judge(caller, &found));
  if (found != nullptr) found->used_us.store(to_micros(wall_now_()), std::memory_order_relaxed);
  return ok();
}

Status CallerBoard::check(const Caller& caller) const {
  const std::shared_lock lock(mutex_);
  const Known* ignored = nullptr;
  return people_ ? judge(caller, &ignored) : ok();
}

bool CallerBoard::knows_people() const {
  const std::shared_lock lock(mutex_);
  return people_.has_value();
}

bool CallerBoard::knows(const Caller& caller) const {
  const std::shared_lock lock(mutex_);
  const Known* found = nullptr;
  return people_ && judge(caller, &found).is_ok() && found != nullptr;
}

std::string CallerBoard::user_of(const Caller& caller) const {
  const std::shared_lock lock(mutex_);
  if (!caller.trusted_user.empty()) return caller.trusted_user;
  const Known* found = nullptr;
  if (!people_ || !judge(caller, &found).is_ok() || found == nullptr) return "";
  return found->token.user;
}

CallerName CallerBoard::name_of(const Caller& caller) const {
  if (!caller.trusted_user.empty()) return {.user = caller.trusted_user, .token = ""};
  const std::shared_lock lock(mutex_);
  if (!people_) return {};
  const auto found = people_->tokens.find(caller.token_hash);
  if (found == people_->tokens.end()) return {};
  return {.user = found->second->token.user, .token = token_id(caller.token_hash)};
}

std::optional<Actor> CallerBoard::actor_of(const Caller& caller) const {
  const std::shared_lock lock(mutex_);
  const Known* found = nullptr;
  if (!people_ || !judge(caller, &found).is_ok() || found == nullptr) return std::nullopt;
  const Token& token = found->token;
  return hai::actor_of(token.user, &people_->users.at(token.user), token.scope).value();
}

int64_t CallerBoard::accounts_version() const {
  const std::shared_lock lock(mutex_);
  return accounts_version_;
}

std::map<std::string, UnixTime> CallerBoard::uses_to_note() const {
  std::map<std::string, UnixTime> uses;
  const std::shared_lock lock(mutex_);
  if (!people_) return uses;
  for (const auto& [hash, known] : people_->tokens) {
    const int64_t used = known->used_us.load(std::memory_order_relaxed);
    if (used != 0 && is_news(known->token, unix_micros(used))) uses[hash] = unix_micros(used);
  }
  return uses;
}

bool CallerBoard::has_tokens_to_remove() const {
  const std::shared_lock lock(mutex_);
  const UnixTime then = wall_now_() - kOverTokensKept;
  return people_ && std::ranges::any_of(people_->tokens, [then](const auto& each) {
           return each.second->token.is_over(then);
         });
}

}  // namespace hai
