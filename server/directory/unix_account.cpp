#include "server/directory/unix_account.h"

#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>

namespace hai {

namespace {

constexpr size_t kBytesFirst = 16 << 10;
constexpr size_t kBytesMax = 16 << 20;  // an entry of a group has the names of all its members
constexpr int kGroupsMax = 4'096;       // each is a question to the directory; Windows has 1,015

// An entry as the name service has it; its texts are in `text`.
template <typename T>
struct Entry {
  T value{};
  std::vector<char> text;
};

// `ask` is one of getpwnam_r and its like. nullopt = there is none.
template <typename T, typename Ask>
Result<std::optional<Entry<T>>> entry_of(const std::string& what, const Ask& ask) {
  Entry<T> entry;
  T* found = nullptr;
  int error = ERANGE;
  for (size_t bytes = kBytesFirst; error == ERANGE && bytes <= kBytesMax; bytes *= 4) {
    entry.text.resize(bytes);
    error = ask(&entry.value, entry.text.data(), entry.text.size(), &found);
  }
  if (found != nullptr) return std::optional(std::move(entry));
  // What the functions say of somebody who is not there differs: getpwnam_r(3).
  if (error == 0 || error == ENOENT || error == ESRCH) return std::optional<Entry<T>>();
  return unavailable("this machine's name service does not say who is {}: {}", what,
                     std::strerror(error));
}

Result<std::optional<Entry<passwd>>> account_named(const std::string& name) {
  return entry_of<passwd>("the user " + name,
                          [&](auto... rest) { return ::getpwnam_r(name.c_str(), rest...); });
}

Result<std::vector<gid_t>> numbers_of_groups(const passwd& account) {
  int count = 64;
  std::vector<gid_t> numbers;
  for (int known = 0; known < count && count <= kGroupsMax;) {
    numbers.resize(static_cast<size_t>(known = count));
    if (::getgrouplist(account.pw_name, account.pw_gid, numbers.data(), &count) >= 0) {
      numbers.resize(static_cast<size_t>(count));
      return numbers;
    }
  }
  if (count > kGroupsMax) {
    return unavailable("{} is in {} Unix groups; hai looks at {} at most: leave him in fewer",
                       account.pw_name, count, kGroupsMax);
  }
  return unavailable("this machine's name service does not say in which groups {} is",
                     account.pw_name);
}

}  // namespace

Result<std::string> unix_name_of(uid_t uid) {
  const auto found = entry_of<passwd>(fmt::format("the uid {}", uid),
                                      [&](auto... rest) { return ::getpwuid_r(uid, rest...); });
  if (!found.is_ok()) return found.status();
  if (!found.value()) return not_found("no account here has the uid {}", uid);
  return std::string(found.value()->value.pw_name);
}

Status check_unix_groups(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto found = entry_of<group>(
        "the group " + name, [&](auto... rest) { return ::getgrnam_r(name.c_str(), rest...); });
    if (!found.is_ok()) return found.status();
    if (!found.value()) {
      return unavailable(
          "this machine knows no group {}, which unix_groups names: make it, or see whether the "
          "directory answers (getent group {})",
          name, name);
    }
  }
  return ok();
}

Result<std::vector<std::string>> unix_groups_of(const std::string& user,
                                                const std::vector<std::string>& named,
                                                uid_t uid_min) {
  // Before and behind: the directory may go away meanwhile, or come back.
  const Status before = check_unix_groups(named);
  const auto account = account_named(user);
  if (!account.is_ok()) return account.status();
  if (account.value() && account.value()->value.pw_uid < uid_min) {
    return failed_precondition("{} is an account of this machine's system, not of a person", user);
  }
  RETURN_IF_ERROR(before);
  if (!account.value()) {
    RETURN_IF_ERROR(check_unix_groups(named));
    if (!named.empty()) return not_found("this machine has no account {}", user);
    return failed_precondition(
        "this machine has no account {}, but the directory may be away: name one of its groups "
        "without a pattern in unix_groups",
        user);
  }
  const auto numbers = numbers_of_groups(account.value()->value);
  if (!numbers.is_ok()) return numbers.status();
  std::vector<std::string> names;
  for (const gid_t number : numbers.value()) {
    const auto found = entry_of<group>(fmt::format("the group {}", number),
                                       [&](auto... rest) { return ::getgrgid_r(number, rest...); });
    if (!found.is_ok()) return found.status();
    if (found.value()) names.emplace_back(found.value()->value.gr_name);
  }
  RETURN_IF_ERROR(check_unix_groups(named));
  return names;
}

}  // namespace hai
