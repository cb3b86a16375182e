#include "server/api/account_changes.h"

#include <utility>

#include "server/api/text_limits.h"
#include "server/control/engine/controller.h"

namespace hai {

void AccountChanges::run(const Caller& caller, const std::string& name, Change change,
                         Done<User> done) {
  in_turn(name, [this, caller, name, change = std::move(change), done = std::move(done)] {
    this->change(caller, name, change, [this, name, done](Result<User> user) {
      go_on(name);
      done(std::move(user));
    });
  });
}

void AccountChanges::remove(const Caller& caller, const std::string& name,
                            Done<CommandReply> done) {
  // Nobody has such a name, and the controller would repeat all of it.
  if (name.size() > kAskedBytesMax) {
    return done(not_found("user {} does not exist", asked_name(name)));
  }
  in_turn(name, [this, caller, name, done = std::move(done)] {
    controller_.submit(caller, RemoveUser{name}, [this, name, done](Result<CommandReply> reply) {
      go_on(name);
      done(std::move(reply));
    });
  });
}

void AccountChanges::in_turn(const std::string& name, Go go) {
  std::deque<Go>& waiting = waiting_[name];
  waiting.push_back(std::move(go));
  if (waiting.size() == 1) Go(waiting.front())();
}

void AccountChanges::go_on(const std::string& name) {
  const auto found = waiting_.find(name);
  found->second.pop_front();
  if (found->second.empty()) {
    waiting_.erase(found);
  } else {
    Go(found->second.front())();  // A copy: it may be over, and gone from here, before it returns.
  }
}

void AccountChanges::change(const Caller& caller, const std::string& name, const Change& change,
                            Done<User> done) {
  controller_.read(
      caller,
      [this, caller, name, change, done](const Controller::ReadContext& context, const Actor&) {
        const User* known = context.state.find_user(name);
        Result<std::optional<User>> changed = change(known);
        if (!changed.is_ok()) return done(changed.status());
        if (!changed.value()) {
          if (known == nullptr) return done(not_found("user {} does not exist", asked_name(name)));
          return done(*known);
        }
        controller_.submit(caller, SetUser{*changed.value()},
                           [user = *changed.value(), done](const Result<CommandReply>& set) {
                             if (!set.is_ok()) return done(set.status());
                             done(user);
                           });
      },
      done);
}

}  // namespace hai
