#include "server/api/unix_groups_refresh.h"

#include <optional>
#include <utility>

#include "common/log.h"
#include "server/api/account_changes.h"
#include "server/control/engine/controller.h"

namespace hai {

namespace {

const Caller kRefresh{.is_server = true};

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

void UnixGroupsRefresh::begin_round() {
  left_.clear();
  parts_.controller.read(
      kRefresh,
      [this](const Controller::ReadContext& context, const Actor&) {
        for (const auto& [name, user] : context.state.users()) {
          if (user.active) left_.push_back(name);
        }
        look_at_next();
      },
      [this](const Status&) { wait(); });  // it leads no more, or not yet
}

void UnixGroupsRefresh::look_at_next() {
  if (is_stopped_) return;
  if (left_.empty()) return wait();
  const std::string user = left_.front();
  left_.pop_front();
  parts_.ask(user, [this, user](const Result<std::vector<std::string>>& groups) {
    if (is_stopped_) return;
    if (groups.is_ok()) return apply(user, false, groups.value(), [this] { look_at_next(); });
    if (groups.status().code() == Code::not_found) return look_at_next();
    log_unknown(user, groups.status());
    wait();
  });
}

void UnixGroupsRefresh::look_up(const std::string& user, bool may_be_new,
                                const std::function<void()>& done) {
  parts_.ask(user, [this, user, may_be_new, done](const Result<std::vector<std::string>>& groups) {
    if (groups.is_ok()) return apply(user, may_be_new, groups.value(), done);
    if (groups.status().code() != Code::not_found) log_unknown(user, groups.status());
    done();
  });
}

void UnixGroupsRefresh::apply(const std::string& user, bool may_be_new,
                              const std::vector<std::string>& groups,
                              const std::function<void()>& done) {
  const auto change = [this, user, may_be_new,
                       groups](const User* known) -> Result<std::optional<User>> {
    if (known == nullptr && !may_be_new) return std::optional<User>();
    if (known != nullptr && !known->active) return std::optional<User>();
    User changed =
        with_unix_groups(groups, parts_.config, known == nullptr ? User{.name = user} : *known);
    if (known != nullptr && changed == *known) return std::optional<User>();
    return std::optional(std::move(changed));
  };
  parts_.accounts.run(kRefresh, user, change, [done](const Result<User>&) { done(); });
}

}  // namespace hai
