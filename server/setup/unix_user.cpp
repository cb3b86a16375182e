#include "server/setup/unix_user.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/machine/bounded_child.h"
#include "common/whole_number.h"

namespace hai {
namespace {

UnixUser user_of(const passwd& entry) {
  return {.name = entry.pw_name, .home = entry.pw_dir, .uid = entry.pw_uid, .gid = entry.pw_gid};
}

Status become(const UnixUser& user) {
  if (user.uid == ::geteuid()) return ok();
  if (::initgroups(user.name.c_str(), user.gid) != 0 ||
      ::setresgid(user.gid, user.gid, user.gid) != 0 ||
      ::setresuid(user.uid, user.uid, user.uid) != 0) {
    return permission_denied("cannot become the user {}: {}: run it as root", user.name,
                             std::strerror(errno));
  }
  ::setenv("HOME", user.home.c_str(), 1);  // libpq looks for .pgpass there
  return ::chdir("/") == 0 ? ok() : unavailable("cannot enter /: {}", std::strerror(errno));
}

// "CODE\nTEXT": of ok the answer, else the message.
std::string encode(const Result<std::string>& answer) {
  return fmt::format("{}\n{}", static_cast<int>(answer.status().code()),
                     answer.is_ok() ? answer.value() : answer.status().message());
}

Result<std::string> decode(const std::string& text) {
  const size_t end = text.find('\n');
  const auto code = whole_number<int>(std::string_view(text).substr(0, end));
  if (end == std::string::npos || !code) return internal("has ended before its time: {}", text);
  std::string rest = text.substr(end + 1);
  if (*code == 0) return rest;
  return Status(static_cast<Code>(*code), std::move(rest));
}

}  // namespace

Result<UnixUser> find_unix_user(const std::string& name) {
  const passwd* entry = ::getpwnam(name.c_str());
  if (entry == nullptr) return not_found("this machine has no user {}", name);
  return user_of(*entry);
}

Result<UnixUser> own_unix_user() {
  const passwd* entry = ::getpwuid(::geteuid());
  if (entry == nullptr) return not_found("this machine has no name for the uid {}", ::geteuid());
  return user_of(*entry);
}

void leave_closed_home() {
  const char* home = ::getenv("HOME");
  if (home != nullptr && ::access(home, X_OK) != 0) ::unsetenv("HOME");
}

Result<std::string> run_as(const UnixUser& user, const std::function<Result<std::string>()>& work,
                           Duration patience) {
  const auto child = [&] {
    const Status became = become(user);
    return encode(became.is_ok() ? work() : Result<std::string>(became));
  };
  const ChildOutput said = run_for_text(child, {.patience = patience, .bytes_max = 1 << 20});
  if (said.is_late) return deadline_exceeded("not done within {}", format_duration(patience));
  return decode(said.text);
}

}  // namespace hai
