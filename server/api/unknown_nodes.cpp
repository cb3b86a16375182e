#include "server/api/unknown_nodes.h"

#include "common/hostlist.h"

namespace hai {
namespace {

constexpr size_t kTextMax = 500;

}  // namespace

Status unknown_nodes(std::vector<std::string> names, std::string_view and_so) {
  const bool is_one = names.size() == 1;
  std::string list = format_hostlist(std::move(names));
  if (list.size() > kTextMax) list = list.substr(0, kTextMax) + "…";
  return not_found("node{} {} do{} not exist{}{}", is_one ? "" : "s", list, is_one ? "es" : "",
                   and_so.empty() ? "" : ": ", and_so);
}

}  // namespace hai
