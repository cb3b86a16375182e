#pragma once
// Looks at people's Unix groups again now and then, so that who has left a group has left it here,
// too, whatever he came in by, and whose account is deleted has left all of them. One after the
// other; of whom the machine does not say, or has had no account since this server runs, nothing
// changes. When it does not say of a few in a row, the round ends. On the loop's thread; only the
// leader does anything.

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/loop.h"
#include "server/api/source.h"
#include "server/directory/unix_groups.h"

namespace hai {

class AccountChanges;
class Controller;

// Names of the groups of an account, on the loop's thread, or why they are not known: as
// unix_groups_of() says (directory/unix_account.h).
using GroupNames = std::vector<std::string>;
using AskUnixGroups = std::function<void(const std::string& user, Done<GroupNames>)>;

class UnixGroupsRefresh {
 public:
  struct Parts {
    Loop& loop;
    Controller& controller;
    AccountChanges& accounts;
    UnixGroupsConfig config;
    AskUnixGroups ask;
  };

  explicit UnixGroupsRefresh(Parts parts) : parts_(std::move(parts)) {}
  ~UnixGroupsRefresh() { stop(); }

  void start();  // the first look is after config.every
  void stop();
  // One person, now. `may_be_new`: he becomes a user if he is none. `done` whatever comes of it,
  // within seconds.
  void look_up(const std::string& user, bool may_be_new, const std::function<void()>& done);

 private:
  void wait();
  void begin_round();
  void look_at_next();
  void looked_at(const Status& status);
  using Taken = std::function<void(const Status&)>;
  void take(const std::string& user, bool may_be_new, const Result<GroupNames>& groups,
            const Taken& done);
  void has_no_account(const std::string& user, const Taken& done);
  void tell_what_is_kept(const std::string& user, const Taken& done);
  void apply(const std::string& user, bool may_be_new, const GroupNames& groups, const Taken& done);

  const Parts parts_;
  std::deque<std::string> left_;        // of this round
  std::set<std::string> had_accounts_;  // users whose groups the machine has told
  std::set<std::string> told_of_;  // users without an account, of whom the log says what they keep
  std::string looked_to_;          // who was the last in a round that has not ended with all; or ""
  int failures_ = 0;               // in a row
  TimerId timer_ = 0;
  bool is_stopped_ = true;
};

}  // namespace hai
