#pragma once
// The Unix user that a server runs as, and work done as somebody: PostgreSQL on this machine knows
// people by their Unix users, and only who is the server's user sees what the server will see.

#include <sys/types.h>

#include <functional>
#include <string>

#include "common/status.h"
#include "common/time.h"

namespace hai {

struct UnixUser {
  std::string name;
  std::string home;
  uid_t uid = 0;
  gid_t gid = 0;
};

// not_found if this machine has no such account.
Result<UnixUser> find_unix_user(const std::string& name);
// Whoever runs this program.
Result<UnixUser> own_unix_user();

// `runuser -u hai` keeps root's $HOME, where libpq looks for a client's certificate before it
// speaks TLS, and gives up if it may not: without $HOME it takes the user's own. For programs with
// one thread.
void leave_closed_home();

// Does the work in a process of its own that has become `user`, and gives its answer. Needs root
// unless `user` is who we are. `deadline_exceeded` after `patience`. For programs with one thread.
Result<std::string> run_as(const UnixUser& user, const std::function<Result<std::string>()>& work,
                           Duration patience);

}  // namespace hai
