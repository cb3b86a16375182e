#include "cli/suggest.h"

#include <fmt/format.h>

#include <vector>

#include "cli/client.h"
#include "cli/node_list.h"
#include "common/nearest.h"

namespace hai::cli {
namespace {

constexpr Duration kDeadline = 500ms;
constexpr int kNamesMax = 1000;

bool is_number(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

// What stands between two texts; "" if they are not there.
std::string between(std::string_view text, std::string_view start, std::string_view end) {
  const size_t begin = text.find(start);
  if (begin == std::string_view::npos || !text.ends_with(end)) return "";
  text.remove_prefix(begin + start.size());
  text.remove_suffix(std::min(end.size(), text.size()));
  return std::string(text);
}

std::vector<std::string> names(Client& client, const MissingName& missing) {
  std::vector<std::string> found;
  if (missing.is_job) {
    v1::ListJobsRequest request;
    request.set_page_size(kNamesMax);
    request.set_include_finished(true);
    const Result<v1::ListJobsReply> reply = client.list_jobs(request);
    if (!reply.is_ok()) return found;
    for (const v1::Job& job : reply.value().jobs()) found.push_back(job.name());
  }
  if (missing.is_node) {
    const Result<std::vector<v1::Node>> nodes = all_nodes(client);
    if (!nodes.is_ok()) return found;
    for (const v1::Node& node : nodes.value()) found.push_back(node.name());
  }
  if (missing.is_user) {
    const Result<v1::ListUsersReply> reply = client.list_users({});
    if (!reply.is_ok()) return found;
    for (const v1::User& user : reply.value().users()) found.push_back(user.name());
  }
  return found;
}

}  // namespace

MissingName missing_name(std::string_view message) {
  MissingName missing;
  constexpr std::string_view kOfSeveral = ": nothing was changed";
  if (message.ends_with(kOfSeveral)) message.remove_suffix(kOfSeveral.size());
  if (std::string name = between(message, "there is no job and no node ", ""); !name.empty()) {
    return {.is_job = true, .is_node = true, .name = std::move(name)};
  }
  for (const char* start : {" job named ", "no unfinished or recent job "}) {
    std::string name = between(message, start, "");
    if (!name.empty() && !is_number(name)) return {.is_job = true, .name = std::move(name)};
  }
  if (message.starts_with("node ")) {
    return {.is_node = true, .name = between(message, "node ", " does not exist")};
  }
  if (message.starts_with("user ")) {
    return {.is_user = true, .name = between(message, "user ", " does not exist")};
  }
  return missing;
}

std::string suggestion(const Client& client, std::string_view message) {
  const MissingName missing = missing_name(message);
  if (missing.name.empty()) return "";
  const std::unique_ptr<Client> brief = client.clone();
  brief->set_notice(nullptr);
  brief->hurry(kDeadline);
  const std::string near = nearest(missing.name, names(*brief, missing));
  // The very same name belongs to a job that has ended: its state is wrong, not the spelling.
  return near.empty() || near == missing.name ? "" : fmt::format("did you mean {}?", near);
}

}  // namespace hai::cli
