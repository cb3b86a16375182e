#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <set>

#include "cli/client.h"
#include "cli/complete/candidates.h"
#include "cli/format.h"
#include "common/count_of.h"

namespace hai::cli {
namespace {

constexpr int kPageSize = 1000;  // one page of each: completion must be quick, not complete
constexpr int kEventsRead = 500;

std::string job_text(const v1::Job& job) {
  const std::string held = job.held() ? ", held" : "";
  return fmt::format("{}{}, {}, {}", job.state(), held, count_of(job.node_count(), "node"),
                     job.priority());
}

// The states of the jobs that the verb can act on; none = all. A verb that takes a --reason changes
// a job, which it can only do to one that has not ended.
std::vector<std::string> states_for(const CLI::App& verb) {
  static const std::set<std::string> kOfUnfinished = {"move", "priority", "wait", "why"};
  const bool is_control = verb.get_option_no_throw("--reason") != nullptr;
  if (is_control || kOfUnfinished.contains(verb.get_name())) {
    return {"queued", "running", "suspended"};
  }
  return {};
}

// Names, which mean one's own jobs; ids, which may be anybody's, when digits are typed.
std::vector<Candidate> jobs(const Cursor& cursor, Client& client) {
  const bool by_id = !cursor.word.empty() && cursor.word[0] >= '0' && cursor.word[0] <= '9';
  v1::ListJobsRequest request;
  request.set_page_size(kPageSize);
  request.set_all_users(by_id);
  const std::vector<std::string> states = states_for(*cursor.verb);
  request.mutable_states()->Assign(states.begin(), states.end());
  request.set_include_finished(states.empty());
  const Result<v1::ListJobsReply> reply = client.list_jobs(request);
  std::vector<Candidate> found;
  if (!reply.is_ok()) return found;
  std::set<std::string> seen;  // of several jobs of one name the newest is meant
  for (const v1::Job& job : reply.value().jobs()) {
    std::string text = by_id ? std::to_string(job.id()) : job.name();
    if (!seen.insert(text).second) continue;
    found.push_back({std::move(text), by_id ? job.name() + ", " + job_text(job) : job_text(job)});
  }
  return found;
}

std::vector<Candidate> tags(Client& client) {
  v1::ListJobsRequest request;
  request.set_page_size(kPageSize);
  request.set_all_users(true);
  request.set_include_finished(true);
  const Result<v1::ListJobsReply> reply = client.list_jobs(request);
  std::map<std::string, int> counts;
  if (reply.is_ok()) {
    for (const v1::Job& job : reply.value().jobs()) {
      for (const std::string& tag : job.tags()) ++counts[tag];
    }
  }
  std::vector<Candidate> found;
  for (const auto& [tag, count] : counts) found.push_back({tag, count_of(count, "job")});
  return found;
}

std::vector<v1::Node> list_nodes(Client& client) {
  v1::ListNodesRequest request;
  request.set_page_size(5 * kPageSize);
  const Result<v1::ListNodesReply> reply = client.list_nodes(request);
  if (!reply.is_ok()) return {};
  return {reply.value().nodes().begin(), reply.value().nodes().end()};
}

std::vector<Candidate> nodes(Client& client, const std::string& before = "") {
  std::vector<Candidate> found;
  for (const v1::Node& node : list_nodes(client)) {
    found.push_back(
        {before + node.name(), fmt::format("{} {}, {} of {} GPUs free", node.liveness(),
                                           node.scheduling(), node.gpus_free(), node.gpus())});
  }
  return found;
}

std::vector<Candidate> places(Client& client, std::string_view label) {
  std::map<std::string, int> counts;
  for (const v1::Node& node : list_nodes(client)) {
    ++counts[label == "GROUP" ? node.group() : label == "ZONE" ? node.zone() : node.leaf()];
  }
  std::vector<Candidate> found;
  for (const auto& [name, count] : counts) {
    if (!name.empty()) found.push_back({name, count_of(count, "node")});
  }
  return found;
}

// Only admins are told.
std::vector<Candidate> users(Client& client, bool with_groups) {
  const Result<v1::ListUsersReply> reply = client.list_users({});
  std::vector<Candidate> found;
  if (!reply.is_ok()) return found;
  std::set<std::string> groups;
  for (const v1::User& user : reply.value().users()) {
    found.push_back({user.name(), user.active() ? user.role() : user.role() + ", not active"});
    groups.insert(user.groups().begin(), user.groups().end());
  }
  if (!with_groups) return found;
  found.push_back({"public", "everybody without a row"});
  for (const std::string& group : groups) found.push_back({group, "user group"});
  return found;
}

std::vector<Candidate> incidents(Client& client) {
  const Result<v1::ListIncidentsReply> reply = client.list_incidents({});
  std::vector<Candidate> found;
  if (!reply.is_ok()) return found;
  for (const v1::Incident& incident : reply.value().incidents()) {
    found.push_back({std::to_string(incident.id()), incident.kind() + ", " + incident.subject()});
  }
  return found;
}

std::vector<Candidate> tokens(Client& client) {
  const Result<v1::ListTokensReply> reply = client.list_tokens({});
  std::vector<Candidate> found;
  if (!reply.is_ok()) return found;
  for (const v1::Token& token : reply.value().tokens()) {
    found.push_back({token.id(), token.label()});
  }
  return found;
}

std::vector<Candidate> event_kinds(Client& client) {
  v1::ListEventsRequest request;
  request.set_page_size(kEventsRead);
  const Result<v1::ListEventsReply> reply = client.list_events(request);
  std::set<std::string> kinds;
  if (reply.is_ok()) {
    for (const v1::Event& event : reply.value().events()) kinds.insert(event.kind());
  }
  std::vector<Candidate> found;
  for (const std::string& kind : kinds) found.push_back({kind});
  return found;
}

// Of a dev cluster: "agent:node-1".
std::vector<Candidate> parts(Client& client) {
  std::vector<Candidate> found = {{"server"}, {"postgres"}};
  for (const char* part : {"agent:", "node:"}) {
    const std::vector<Candidate> all = nodes(client, part);
    found.insert(found.end(), all.begin(), all.end());
  }
  return found;
}

// `hai describe`: a job, a node or an incident.
std::vector<Candidate> things(const Cursor& cursor, Client& client) {
  std::vector<Candidate> found = jobs(cursor, client);
  for (const auto& more : {nodes(client), incidents(client)}) {
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

}  // namespace

bool is_live(std::string_view label) {
  static const std::set<std::string, std::less<>> kLabels = {
      "JOB",   "NODE", "GROUP", "ZONE", "LEAF",     "USER", "TAG",
      "OWNER", "KIND", "WHAT",  "ID",   "INCIDENT", "THING"};
  return kLabels.contains(label);
}

std::vector<Candidate> live_candidates(std::string_view label, const Cursor& cursor,
                                       Client& client) {
  if (label == "JOB") return jobs(cursor, client);
  if (label == "NODE") return nodes(client);
  if (label == "TAG") return tags(client);
  if (label == "USER" || label == "OWNER") return users(client, label == "OWNER");
  if (label == "INCIDENT") return incidents(client);
  if (label == "ID") return tokens(client);
  if (label == "KIND") return event_kinds(client);
  if (label == "WHAT") return parts(client);
  if (label == "THING") return things(cursor, client);
  return places(client, label);
}

}  // namespace hai::cli
