#include "cli/unknown_filter.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "cli/client.h"
#include "cli/node_list.h"

namespace hai::cli {
namespace {

std::set<std::string> node_groups(Client& client) {
  std::set<std::string> groups;
  const Result<std::vector<v1::Node>> nodes = all_nodes(client, {});
  if (nodes.is_ok()) {
    for (const v1::Node& node : nodes.value()) groups.insert(node.group());
  }
  return groups;
}

}  // namespace

std::vector<std::string> unknown_names(Client& client, const std::vector<std::string>& users,
                                       const std::vector<std::string>& groups) {
  std::vector<std::string> lines;
  const auto is_named = [](const std::string& name) { return !name.empty(); };
  if (std::ranges::any_of(users, is_named)) {
    const Result<v1::ListUsersReply> known = client.list_users({});
    for (const std::string& name : users) {
      const bool is_known = !known.is_ok() || name.empty() ||
                            std::ranges::any_of(known.value().users(), [&](const v1::User& user) {
                              return user.name() == name;
                            });
      if (!is_known) lines.push_back(fmt::format("there is no user {}", name));
    }
  }
  if (std::ranges::any_of(groups, is_named)) {
    const std::set<std::string> known = node_groups(client);
    for (const std::string& name : groups) {
      if (name.empty() || known.empty() || known.contains(name)) continue;
      lines.push_back(fmt::format("no node is in a group {}; the groups are: {}", name,
                                  fmt::join(known, ", ")));
    }
  }
  return lines;
}

}  // namespace hai::cli
