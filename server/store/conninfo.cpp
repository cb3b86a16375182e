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

}  // namespace hai
