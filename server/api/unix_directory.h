#pragma once
// The Unix groups of people, as the machine's name service has them: before somebody signs in by
// his account, and again now and then. On the loop's thread.

#include <memory>
#include <string>

#include "server/api/unix_groups_refresh.h"

namespace hai {

class UnixGroupsReader;

class UnixDirectory {
 public:
  // A config that is not used: nobody's groups are asked for.
  UnixDirectory(Loop& loop, Controller& controller, AccountChanges& accounts,
                UnixGroupsConfig config);
  ~UnixDirectory();

  void start();
  void stop();
  // Looks somebody's groups up and has his account be so; `may_be_new`: he becomes a user if he is
  // none. Then, or if they are not known, `done`: whose groups are not known keeps those he has.
  void look_up(const std::string& user, bool may_be_new, const std::function<void()>& done);

 private:
  const std::unique_ptr<UnixGroupsReader> reader_;  // nullptr = not used
  UnixGroupsRefresh refresh_;
};

}  // namespace hai
