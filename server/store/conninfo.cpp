#include "server/store/conninfo.h"

#include <libpq-fe.h>

#include <memory>

#include "server/store/pg_session.h"

namespace hai {

Result<std::map<std::string, std::string>> parse_conninfo(const std::string& conninfo) {
  char* error = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&::PQconninfoFree)> options(
      ::PQconninfoParse(conninfo.c_str(), &error), &::PQconninfoFree);
  const std::unique_ptr<char, decltype(&::PQfreemem)> message(error, &::PQfreemem);
  if (!options) return invalid_argument("{}", one_line_of(error == nullptr ? "no memory" : error));
  std::map<std::string, std::string> words;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) words[option->keyword] = option->val;
  }
  return words;
}

std::string passfile_of(const std::string& conninfo) {
  Result<std::map<std::string, std::string>> words = parse_conninfo(conninfo);
  return words.is_ok() ? words.value()["passfile"] : "";
}

std::string root_certificate_of(const std::string& conninfo) {
  Result<std::map<std::string, std::string>> words = parse_conninfo(conninfo);
  const std::string path = words.is_ok() ? words.value()["sslrootcert"] : "";
  return path.starts_with('/') ? path : "";  // `system` is no file
}

std::string quoted_conninfo(const std::string& value) {
  std::string quoted;
  for (const char byte : value) {
    if (byte == '\'' || byte == '\\') quoted += '\\';
    quoted += byte;
  }
  return "'" + quoted + "'";
}

std::string shown_conninfo(const std::string& conninfo) {
  const Result<std::map<std::string, std::string>> words = parse_conninfo(conninfo);
  if (!words.is_ok()) return "a connection string that libpq does not understand";
  std::string shown;
  bool has_password = false;
  for (const auto& [name, value] : words.value()) {
    const bool is_password = name.ends_with("password");
    has_password |= is_password;
    shown += fmt::format("{}{}={}", shown.empty() ? "" : " ", name, is_password ? "***" : value);
  }
  return has_password ? shown : conninfo;
}

}  // namespace hai
