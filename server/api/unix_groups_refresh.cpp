#include "server/api/unix_groups_refresh.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "common/log.h"
#include "server/api/account_changes.h"
#include "server/api/audit_trail.h"
#include "server/control/engine/controller.h"

namespace hai {

namespace {

const Caller kRefresh{.is_server = true};
// In a row: then it is the directory that fails, or this server that leads no more.
constexpr int kFailuresMax = 3;
constexpr Duration kLookUpTimeMax = 3s;

void log_unknown(const std::string& user, const Status& why) {
  log_warning("unix_groups_unknown", {{"user", user}, {"reason", why.message()}});
}

}  // namespace

void UnixGroupsRefresh::start() {
  is_stopped_ = false;
  wait();
}

void UnixGroupsRefresh::wait() {
  if (is_stopped_) return;
  timer_ = parts_.loop.call_after(parts_.config.every, [this] { begin_round(); });
}

void UnixGroupsRefresh::stop() {
  is_stopped_ = true;
  parts_.loop.cancel(timer_);
}

// Who comes behind those with whom the last round ended comes first: a few that always fail keep
// nobody back.
void UnixGroupsRefresh::begin_round() {
  left_.clear();
  failures_ = 0;
  parts_.controller.read(
      kRefresh,
      [this](const Controller::ReadContext& context, const Actor&) {
        const std::map<std::string, User>& users = context.state.users();
        const auto first = users.upper_bound(looked_to_);
        const auto add = [this](const auto& each) {
          if (each.second.active) left_.push_back(each.first);
        };
        std::for_each(first, users.end(), add);
        std::for_each(users.begin(), first, add);
        const auto is_no_user = [&](const std::string& name) { return !users.contains(name); };
        std::erase_if(had_accounts_, is_no_user);
        std::erase_if(told_of_, is_no_user);
        look_at_next();
      },
      [this](const Status&) { wait(); });  // it leads no more, or not yet
}

void UnixGroupsRefresh::look_at_next() {
  if (is_stopped_) return;
  if (left_.empty()) {
    looked_to_.clear();
    return wait();
  }
  looked_to_ = left_.front();
  left_.pop_front();
  parts_.ask(looked_to_, [this, user = looked_to_](const Result<GroupNames>& groups) {
    if (is_stopped_) return;
    take(user, false, groups, [this](const Status& status) { looked_at(status); });
  });
}

void UnixGroupsRefresh::looked_at(const Status& status) {
  failures_ = status.is_ok() ? 0 : failures_ + 1;
  if (failures_ < kFailuresMax) return look_at_next();
  left_.clear();
  wait();
}

// Nobody waits for a directory that does not answer: he signs in with the groups that he has. What
// it says later counts all the same.
void UnixGroupsRefresh::look_up(const std::string& user, bool may_be_new,
                                const std::function<void()>& done) {
  const auto answer = std::make_shared<std::function<void()>>(done);
  const auto answer_once = [answer] {
    if (const auto told = std::exchange(*answer, nullptr)) told();
  };
  const TimerId timer = parts_.loop.call_after(kLookUpTimeMax, [user, answer_once] {
    log_unknown(user, deadline_exceeded("this machine's name service did not answer within {}",
                                        format_duration(kLookUpTimeMax)));
    answer_once();
  });
  const auto finish = [this, timer, answer_once] {
    parts_.loop.cancel(timer);
    answer_once();
  };
  parts_.ask(user, [this, user, may_be_new, finish](const Result<GroupNames>& groups) {
    take(user, may_be_new, groups, [finish](const Status&) { finish(); });
  });
}

void UnixGroupsRefresh::take(const std::string& user, bool may_be_new,
                             const Result<GroupNames>& groups, const Taken& done) {
  if (groups.is_ok()) {
    had_accounts_.insert(user);
    return apply(user, may_be_new, groups.value(), done);
  }
  const Code code = groups.status().code();
  if (code == Code::not_found) return has_no_account(user, done);
  if (code == Code::failed_precondition) return done(ok());
  log_unknown(user, groups.status());
  done(groups.status());
}

// Who had an account has his role and groups from it, as far as they are the directory's. Somebody
// who never had one has them by hand.
void UnixGroupsRefresh::has_no_account(const std::string& user, const Taken& done) {
  if (!had_accounts_.contains(user)) return tell_what_is_kept(user, done);
  apply(user, false, {}, [this, user, done](const Status& status) {
    if (status.is_ok() && had_accounts_.erase(user) > 0) {
      log_warning(
          "unix_account_gone",
          {{"user", user},
           {"reason", fmt::format("his Unix account is deleted, and the role and groups that he "
                                  "had from it are gone; `hai user set {} --active no` ends his "
                                  "tokens, too",
                                  user)}});
    }
    done(status);
  });
}

// His account may have been deleted before this server began to look.
void UnixGroupsRefresh::tell_what_is_kept(const std::string& user, const Taken& done) {
  const auto look = [this, user](const User* known) -> Result<std::optional<User>> {
    if (known == nullptr || !known->active) return std::optional<User>();
    const bool keeps = !with_unix_groups({}, parts_.config, *known).is_same_account(*known);
    if (!keeps || !told_of_.insert(user).second) return std::optional<User>();
    log_warning("unix_account_missing",
                {{"user", user},
                 {"reason", fmt::format("he has no Unix account since this server runs, and keeps "
                                        "the role {} and his groups as given by hand; if he has "
                                        "left: `hai user set {} --active no`",
                                        to_string(known->role), user)}});
    return std::optional<User>();
  };
  parts_.accounts.run(kRefresh, user, look, [done](const Result<User>&) { done(ok()); });
}

void UnixGroupsRefresh::apply(const std::string& user, bool may_be_new, const GroupNames& groups,
                              const Taken& done) {
  const auto change = [this, user, may_be_new,
                       groups](const User* known) -> Result<std::optional<User>> {
    if (known == nullptr && !may_be_new) return std::optional<User>();
    if (known != nullptr && !known->active) return std::optional<User>();
    User changed =
        with_unix_groups(groups, parts_.config, known == nullptr ? User{.name = user} : *known);
    if (known != nullptr && changed == *known) return std::optional<User>();
    return std::optional(std::move(changed));
  };
  parts_.accounts.run_by_server(
      kUnixGroupsCall, user, change, [user, done](const Result<User>& changed) {
        const bool is_refused = !changed.is_ok() && changed.status().code() != Code::not_found;
        if (is_refused) {
          log_warning("unix_groups_not_set",
                      {{"user", user}, {"reason", changed.status().message()}});
        }
        done(is_refused ? changed.status() : ok());
      });
}

}  // namespace hai
