#include "server/api/unix_groups_reader.h"

#include <utility>

#include "server/directory/unix_account.h"

namespace hai {

UnixGroupsReader::UnixGroupsReader(Loop& loop, std::vector<std::string> named)
    : loop_(loop), named_(std::move(named)) {}

void UnixGroupsReader::read(const std::string& user, Done<std::vector<std::string>> done) {
  const bool is_taken = worker_.post([this, user, done] {
    loop_.post([done, groups = unix_groups_of(user, named_, uid_min_)] { done(groups); });
  });
  if (is_taken) return;
  loop_.post(
      [done] { done(resource_exhausted("too many people's groups are asked for already")); });
}

}  // namespace hai
