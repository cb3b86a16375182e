#include "cli/commands/user_table.h"

#include <map>

#include "common/account_name.h"
#include "common/csv_table.h"
#include "common/text_check.h"

namespace hai::cli {
namespace {

std::vector<std::string> split_groups(std::string_view text) {
  std::vector<std::string> groups;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(";, "), text.size());
    if (end > 0) groups.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return groups;
}

Status check_row(const UserRow& row, const std::string& account, const std::string& self,
                 const std::function<bool(const std::string&)>& has_account) {
  RETURN_IF_ERROR(check_account_name("name", row.name));
  for (const std::string& group : row.groups.value_or(std::vector<std::string>())) {
    RETURN_IF_ERROR(check_account_name("groups", group));
  }
  if (!row.role.empty() && row.role != "user" && row.role != "operator" && row.role != "admin") {
    return invalid_argument("role: must be user, operator or admin, is '{}'", printable(row.role));
  }
  if (row.name == self && !row.role.empty() && row.role != "admin") {
    return invalid_argument("role: {} is you, and cannot take his own admin rights away", self);
  }
  if (account.empty()) return ok();
  if (account != row.name) {
    return invalid_argument(
        "unix_account: jobs of {} run as the account of that name, not as '{}': name the user as "
        "the account",
        row.name, printable(account));
  }
  if (has_account(account)) return ok();
  return invalid_argument("unix_account: this machine has no account {}", account);
}

}  // namespace

Result<std::vector<UserRow>> parse_user_table(
    std::string_view text, const std::string& source, const std::string& self,
    const std::function<bool(const std::string&)>& has_account) {
  const Result<CsvTable> table = parse_csv_table(
      text, source, {.required = {"name"}, .optional = {"groups", "role", "unix_account"}});
  RETURN_IF_ERROR(table.status());
  // A file without the column leaves groups as they are; an empty field takes all of them away.
  const bool has_groups = table.value().has[1];
  std::vector<UserRow> users;
  std::map<std::string, int> lines;
  for (const CsvRow& row : table.value().rows) {
    UserRow user{.line = row.line, .name = row.fields[0], .role = row.fields[2]};
    if (has_groups) user.groups = split_groups(row.fields[1]);
    const Status status = check_row(user, row.fields[3], self, has_account);
    if (!status.is_ok()) {
      return invalid_argument("{}:{}: {}", source, row.line, status.message());
    }
    const auto [first, is_new] = lines.try_emplace(user.name, row.line);
    if (!is_new) {
      return invalid_argument("{}:{}: {} is on line {} already", source, row.line, user.name,
                              first->second);
    }
    users.push_back(std::move(user));
  }
  if (users.empty()) return invalid_argument("{}: has no line but the first", source);
  return users;
}

}  // namespace hai::cli
