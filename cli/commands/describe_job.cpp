#include <fmt/format.h>

#include <map>

#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/describe.h"
#include "cli/format.h"
#include "cli/job_view.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/why_view.h"
#include "common/spec/job_spec_yaml.h"
#include "proto/convert/spec_convert.h"

namespace hai::cli {
namespace {

constexpr int kAttemptsShown = 50;
constexpr int kNodesAsked = 64;  // of the ranks: more than that nobody reads

bool waits(const v1::Job& job) { return job.state() == "queued" || job.state() == "suspended"; }

Result<std::vector<v1::Attempt>> attempts_of(Client& client, const std::string& job) {
  v1::ListAttemptsRequest request;
  request.set_job(job);
  request.set_page_size(kAttemptsShown);
  const Result<v1::ListAttemptsReply> reply = client.list_attempts(request);
  RETURN_IF_ERROR(reply.status());
  return std::vector<v1::Attempt>(reply.value().attempts().begin(), reply.value().attempts().end());
}

// Why each one ended, in full: the table of attempts may have to cut it.
std::string ends_text(const std::vector<v1::Attempt>& attempts) {
  std::string text;
  for (const v1::Attempt& attempt : attempts) {
    if (attempt.end_reason().empty()) continue;
    text += fmt::format("  attempt {} {}: {}\n", attempt.number(), attempt.state(),
                        printable(attempt.end_reason()));
  }
  return text;
}

// How a node stands, and what its checks have to say.
struct NodeWords {
  std::string state;
  std::string evidence;
};

NodeWords words_of(const v1::Node& node) {
  NodeWords words{.state = node.liveness() + " " + node.scheduling(), .evidence = ""};
  for (const v1::NodeCheck& check : node.checks()) {
    if (check.state() != "warn" && check.state() != "fail") continue;
    words.evidence += fmt::format("{}{} {}: {}", words.evidence.empty() ? "" : "; ", check.name(),
                                  check.state(), check.text());
  }
  return words;
}

std::map<std::string, v1::Node> nodes_of(Client& client, const v1::Attempt& attempt) {
  std::map<std::string, v1::Node> nodes;
  for (const v1::RankInfo& rank : attempt.ranks()) {
    if (nodes.size() >= kNodesAsked || nodes.contains(rank.node())) continue;
    v1::GetNodeRequest request;
    request.set_name(rank.node());
    const Result<v1::Node> node = client.get_node(request);
    if (node.is_ok()) nodes[rank.node()] = node.value();
  }
  return nodes;
}

std::string ranks_text(const v1::Attempt& attempt, const std::map<std::string, v1::Node>& nodes,
                       const Terminal& terminal) {
  Table table({{"RANK", true},
               {"NODE"},
               {"GPUS"},
               {"PHASE"},
               {"EXIT", true},
               {"NODE IS"},
               {"MESSAGE", false, true}});
  for (const v1::RankInfo& rank : attempt.ranks()) {
    const auto node = nodes.find(rank.node());
    const NodeWords words = node == nodes.end() ? NodeWords{} : words_of(node->second);
    std::string message = rank.message();
    if (!rank.cause().empty()) message = rank.cause() + (message.empty() ? "" : ": " + message);
    if (!words.evidence.empty()) message += (message.empty() ? "" : "; ") + words.evidence;
    table.add_row({std::to_string(rank.rank()), rank.node(), gpus_text(rank), rank.phase(),
                   rank.has_exit_code() ? std::to_string(rank.exit_code()) : "", words.state,
                   message});
  }
  return table.render(terminal);
}

std::string indented(const std::string& text) {
  std::string out = "  ";
  for (const char c : text.substr(0, text.find_last_not_of('\n') + 1)) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out + "\n";
}

Result<std::string> spec_yaml(const v1::Job& job) {
  const Result<JobSpec> spec = from_proto(job.spec());
  RETURN_IF_ERROR(spec.status());
  return format_job_spec_yaml(spec.value());
}

}  // namespace

Result<std::string> job_file_of(Client& client, const std::string& name) {
  v1::GetJobSpecRequest request;
  request.set_job(name);
  const Result<v1::GetJobSpecReply> reply = client.get_job_spec(request);
  RETURN_IF_ERROR(reply.status());
  return reply.value().yaml();
}

Result<Page> describe_job(Client& client, const std::string& name, const Terminal& terminal) {
  v1::GetJobRequest request;
  request.set_job(name);
  const Result<v1::Job> found = client.get_job(request);
  RETURN_IF_ERROR(found.status());
  const v1::Job& job = found.value();
  const std::string id = std::to_string(job.id());
  Json json = {{"kind", "job"}, {"job", to_json(job)}};

  const Result<std::vector<v1::Attempt>> listed = attempts_of(client, id);
  const std::vector<v1::Attempt> attempts =
      listed.is_ok() ? listed.value() : std::vector<v1::Attempt>();
  json["attempts"] = Json::array();
  for (const v1::Attempt& attempt : attempts) json["attempts"].push_back(to_json(attempt));
  std::string text = job_card(job, attempts, wall_now(), terminal);
  if (!listed.is_ok()) text += page_part("ATTEMPTS", listed.status(), terminal);
  if (const std::string ends = ends_text(attempts); !ends.empty()) {
    text += page_part("WHY ATTEMPTS ENDED", ends, terminal);
  }

  json["why"] = nullptr;
  if (waits(job)) {
    v1::WhyJobRequest why;
    why.set_job(id);
    why.set_with_estimate(true);
    const Result<v1::WhyJobReply> reply = client.why_job(why);
    if (reply.is_ok()) json["why"] = to_json(reply.value());
    text += page_part("WHY IT WAITS",
                      reply.is_ok() ? Result<std::string>(why_text(reply.value(), terminal))
                                    : Result<std::string>(reply.status()),
                      terminal);
  }

  json["nodes"] = Json::array();
  if (!attempts.empty()) {
    const v1::Attempt& latest = attempts.front();
    const std::map<std::string, v1::Node> nodes = nodes_of(client, latest);
    for (const auto& each : nodes) json["nodes"].push_back(to_json(each.second));
    text += page_part(fmt::format("RANKS OF ATTEMPT {}", latest.number()),
                      ranks_text(latest, nodes, terminal), terminal);
  }

  const Result<std::vector<v1::Event>> events = last_events(client, id, "");
  json["events"] = Json::array();
  if (events.is_ok()) {
    for (const v1::Event& event : events.value()) json["events"].push_back(to_json(event));
  }
  text += page_part("LAST EVENTS",
                    events.is_ok() ? Result<std::string>(events_text(events.value(), terminal))
                                   : Result<std::string>(events.status()),
                    terminal);

  const Result<std::string> spec = spec_yaml(job);
  json["spec_yaml"] = spec.is_ok() ? Json(spec.value()) : Json();
  text += page_part("SPEC", spec.is_ok() ? Result<std::string>(indented(spec.value())) : spec,
                    terminal);
  return Page{std::move(text), std::make_shared<const Json>(std::move(json))};
}

}  // namespace hai::cli
