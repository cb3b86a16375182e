#pragma once
// People by the table: a CSV file, judged whole before anybody is changed.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai::cli {

struct UserRow {
  int line = 0;  // of the file
  std::string name;
  std::string role;                                // "" = a new one is a user, others stay
  std::optional<std::vector<std::string>> groups;  // none = as they are
  bool operator==(const UserRow&) const = default;
};

// Columns name, groups (with ; or, in quotation marks, commas between), role, unix_account. Jobs
// run as the account of the user's own name: a unix_account must be that one, and `has_account`
// know it. `self`: who asks, who cannot take his own rights away.
Result<std::vector<UserRow>> parse_user_table(
    std::string_view text, const std::string& source, const std::string& self,
    const std::function<bool(const std::string&)>& has_account);

}  // namespace hai::cli
