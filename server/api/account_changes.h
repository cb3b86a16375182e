#pragma once
// Changes of accounts, of each user one after the other: a change says what is to be different, and
// begins with the account as the one before has left it. So none undoes another: who is shut out
// while he signs in, and gets his groups from the identity provider by that, stays out. On the
// loop's thread of the leader, which alone changes accounts.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "server/api/source.h"
#include "server/control/command.h"

namespace hai {

class AuditTrail;
class Controller;

class AccountChanges {
 public:
  // The account as it is to be; nullopt = as it is. `known`: as it is, nullptr = there is none.
  using Change = std::function<Result<std::optional<User>>(const User* known)>;

  AccountChanges(Controller& controller, AuditTrail& audit)
      : controller_(controller), audit_(audit) {}

  // Answers with the account as it is then, once that is durable; or with why not.
  void run(const Caller& caller, const std::string& name, Change change, Done<User> done);
  // The same by the server itself, which nobody has asked to: what is different by it, or was to
  // be, is an entry of the audit log, of this call, which outlives all.
  void run_by_server(std::string_view audited_as, const std::string& name, const Change& change,
                     Done<User> done);
  // In the same order; answers when it is durable.
  void remove(const Caller& caller, const std::string& name, Done<CommandReply> done);

 private:
  using Go = std::function<void()>;
  void change(const Caller& caller, const std::string& name, const Change& change, Done<User> done);
  void in_turn(const std::string& name, Go go);
  void go_on(const std::string& name);

  Controller& controller_;
  AuditTrail& audit_;
  std::map<std::string, std::deque<Go>> waiting_;  // by user; the first one is under way
};

}  // namespace hai
