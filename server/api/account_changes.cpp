#include "server/api/account_changes.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "server/api/audit_trail.h"
#include "server/api/text_limits.h"
#include "server/control/engine/controller.h"

namespace hai {
namespace {

// " WORD proj-b" for each group of `more` that `fewer` lacks.
std::string groups_text(const char* word, const std::vector<std::string>& more,
                        const std::vector<std::string>& fewer) {
  std::string text;
  for (const std::string& group : more) {
    if (std::ranges::find(fewer, group) == fewer.end()) text += fmt::format(", {} {}", word, group);
  }
  return text;
}

// "role user, joins proj-b, leaves proj-a": what is different, for the audit log.
std::string change_text(const User& before, const User& after, bool is_new) {
  std::string text = is_new ? ", new user" : "";
  if (before.role != after.role) text += fmt::format(", role {}", to_string(after.role));
  text += groups_text("joins", after.groups, before.groups);
  text += groups_text("leaves", before.groups, after.groups);
  return text.empty() ? "" : text.substr(2);
}

}  // namespace

void AccountChanges::run(const Caller& caller, const std::string& name, Change change,
                         Done<User> done) {
  in_turn(name, [this, caller, name, change = std::move(change), done = std::move(done)] {
    this->change(caller, name, change, [this, name, done](Result<User> user) {
      go_on(name);
      done(std::move(user));
    });
  });
}

void AccountChanges::run_by_server(std::string_view audited_as, const std::string& name,
                                   const Change& change, Done<User> done) {
  const auto tried = std::make_shared<std::optional<std::string>>();  // what was to be different
  const auto told = [change, name, tried](const User* known) {
    Result<std::optional<User>> changed = change(known);
    if (changed.is_ok() && changed.value()) {
      *tried = change_text(known == nullptr ? User{.name = name} : *known, *changed.value(),
                           known == nullptr);
    }
    return changed;
  };
  const Caller server{.is_server = true};
  run(server, name, told,
      [this, audited_as, name, server, tried, done = std::move(done)](Result<User> user) {
        if (*tried) {
          audit_.note({.caller = server,
                       .address = "",
                       .name = audited_as,
                       .facts = {.target = audit_target("user", name), .detail = **tried}},
                      user.is_ok() ? ok() : user.status());
        }
        done(std::move(user));
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
