#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/describe.h"
#include "cli/commands/incident_view.h"
#include "cli/format.h"
#include "cli/job_view.h"
#include "cli/node_view.h"
#include "cli/output.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

constexpr int kPlacementsRead = 50;
constexpr size_t kJobsBefore = 10;
constexpr size_t kNodesOfIncident = 64;

Result<std::vector<v1::Job>> jobs_by_id(Client& client, const std::vector<int64_t>& ids) {
  std::vector<v1::Job> jobs;
  for (const int64_t id : ids) {
    v1::GetJobRequest request;
    request.set_job(std::to_string(id));
    const Result<v1::Job> job = client.get_job(request);
    if (job.status().code() == Code::not_found) continue;  // archived since
    RETURN_IF_ERROR(job.status());
    jobs.push_back(job.value());
  }
  return jobs;
}

// Those that were placed here and are here no more, the latest first.
Result<std::vector<v1::Job>> jobs_before(Client& client, const v1::Node& node) {
  v1::ListEventsRequest request;
  request.set_node(node.name());
  request.add_kinds("attempt_placed");
  request.set_page_size(kPlacementsRead);
  const Result<v1::ListEventsReply> reply = client.list_events(request);
  RETURN_IF_ERROR(reply.status());
  std::vector<int64_t> ids;
  for (const v1::Event& event : reply.value().events()) {
    const bool is_here = std::ranges::find(node.jobs(), event.job_id()) != node.jobs().end();
    if (is_here || event.job_id() == 0 || std::ranges::find(ids, event.job_id()) != ids.end()) {
      continue;
    }
    ids.push_back(event.job_id());
    if (ids.size() == kJobsBefore) break;
  }
  return jobs_by_id(client, ids);
}

Result<std::string> jobs_text(const Result<std::vector<v1::Job>>& jobs, const Terminal& terminal) {
  RETURN_IF_ERROR(jobs.status());
  if (jobs.value().empty()) return std::string("  none\n");
  return job_table(jobs.value(), {.wide = false, .now = wall_now()}, terminal);
}

Json jobs_json(const Result<std::vector<v1::Job>>& jobs) {
  Json json = Json::array();
  if (!jobs.is_ok()) return json;
  for (const v1::Job& job : jobs.value()) json.push_back(to_json(job));
  return json;
}

std::string marks_text(const v1::Node& node) {
  std::string text;
  for (const v1::NodeMark& mark : node.marks()) {
    text += fmt::format("  {}  {}{}\n", local_time(mark.at_us()), printable(mark.kind()),
                        mark.job() == 0 ? "" : fmt::format(", job {}", mark.job()));
  }
  return text;
}

std::string measures_text(const v1::Node& node) {
  std::string text;
  for (const v1::NodeMeasure& measure : node.validation().measured()) {
    text += fmt::format("  {:<28} {:.4g} {}\n", printable(measure.name()), measure.value(),
                        printable(measure.unit()));
  }
  return text;
}

bool concerns(const v1::Incident& incident, const std::string& node) {
  return incident.subject() == "node/" + node ||
         std::ranges::find(incident.nodes(), node) != incident.nodes().end();
}

}  // namespace

Result<Page> describe_node(Client& client, const std::string& name, const Terminal& terminal) {
  v1::GetNodeRequest request;
  request.set_name(name);
  const Result<v1::Node> found = client.get_node(request);
  RETURN_IF_ERROR(found.status());
  const v1::Node& node = found.value();
  std::string text = node_card(node, /*wide=*/true, terminal);
  Json json = {{"kind", "node"}, {"node", to_json(node)}};

  const Result<std::vector<v1::Job>> now =
      jobs_by_id(client, {node.jobs().begin(), node.jobs().end()});
  const Result<std::vector<v1::Job>> before = jobs_before(client, node);
  text += page_part("JOBS NOW", jobs_text(now, terminal), terminal);
  text += page_part("JOBS BEFORE", jobs_text(before, terminal), terminal);
  json["jobs"] = jobs_json(now);
  json["jobs_before"] = jobs_json(before);

  if (node.validation().measured_size() > 0) {
    text += page_part("MEASURED BY ITS LAST VALIDATION", measures_text(node), terminal);
  }
  if (node.marks_size() > 0)
    text += page_part("WHAT SPEAKS AGAINST IT", marks_text(node), terminal);

  json["incidents"] = Json::array();
  std::string open;
  const Result<v1::ListIncidentsReply> incidents = client.list_incidents({});
  if (incidents.is_ok()) {
    for (const v1::Incident& incident : incidents.value().incidents()) {
      if (!concerns(incident, name)) continue;
      open += incident_text(incident);
      json["incidents"].push_back(to_json(incident));
    }
  }
  if (!open.empty()) text += page_part("OPEN INCIDENTS", open, terminal);

  const Result<std::vector<v1::Event>> events = last_events(client, "", name);
  json["events"] = Json::array();
  if (events.is_ok()) {
    for (const v1::Event& event : events.value()) json["events"].push_back(to_json(event));
  }
  text += page_part("LAST EVENTS",
                    events.is_ok() ? Result<std::string>(events_text(events.value(), terminal))
                                   : Result<std::string>(events.status()),
                    terminal);
  return Page{std::move(text), std::make_shared<const Json>(std::move(json))};
}

Result<Page> describe_incident(Client& client, int64_t id, const Terminal& terminal) {
  const Result<v1::ListIncidentsReply> reply = client.list_incidents({});
  RETURN_IF_ERROR(reply.status());
  for (const v1::Incident& incident : reply.value().incidents()) {
    if (incident.id() != id) continue;
    std::vector<v1::Node> nodes;
    Json json = {{"kind", "incident"}, {"incident", to_json(incident)}, {"nodes", Json::array()}};
    for (const std::string& name : incident.nodes()) {
      if (nodes.size() == kNodesOfIncident) break;
      v1::GetNodeRequest request;
      request.set_name(name);
      const Result<v1::Node> node = client.get_node(request);
      if (!node.is_ok()) continue;
      nodes.push_back(node.value());
      json["nodes"].push_back(to_json(node.value()));
    }
    std::string text = incident_text(incident);
    if (!nodes.empty()) {
      const std::string title =
          nodes.size() < static_cast<size_t>(incident.nodes_size())
              ? fmt::format("THE FIRST {} OF {} NODES", nodes.size(), incident.nodes_size())
              : std::string("NODES");
      text += page_part(title, node_table(nodes, false, terminal), terminal);
    }
    return Page{std::move(text), std::make_shared<const Json>(std::move(json))};
  }
  return not_found("incident {} is not open; `hai events` has those that ended", id);
}

}  // namespace hai::cli
