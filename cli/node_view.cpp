#include "cli/node_view.h"

#include <fmt/format.h>

#include "cli/format.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

std::string jobs_text(const v1::Node& node) {
  return fmt::format("{}", fmt::join(node.jobs().begin(), node.jobs().end(), ","));
}

std::string reason_text(const v1::Node& node) {
  if (node.reason().empty() || node.reason_by().empty()) return node.reason();
  return fmt::format("{} (by {})", node.reason(), node.reason_by());
}

// "12 running, 3 queued" in the words' alphabetical order; "none" when all are zero.
template <typename Map>
std::string counts_text(const Map& counts) {
  std::string text;
  for (const auto& [word, count] : std::map<std::string, int>(counts.begin(), counts.end())) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::string node_table(const std::vector<v1::Node>& nodes, bool wide, const Terminal& terminal) {
  std::vector<Column> columns = {{"NAME"},       {"GROUP"},      {"ZONE"},
                                 {"LEAF"},       {"LIVENESS"},   {"SCHEDULING"},
                                 {"GPUS", true}, {"FREE", true}, {"JOBS", false, true},
                                 {"HEALTH"}};
  if (wide) {
    const std::vector<Column> more = {
        {"ADDRESS"}, {"CPUS", true}, {"MEMORY", true}, {"GPU MODEL"}, {"AGENT"}};
    columns.insert(columns.end(), more.begin(), more.end());
  }
  columns.push_back({"REASON", false, true});
  Table table(columns);
  for (const v1::Node& node : nodes) {
    std::vector<Cell> row = {node.name(),
                             node.group(),
                             node.zone(),
                             node.leaf(),
                             {node.liveness(), colour_of(node.liveness())},
                             {node.scheduling(), colour_of(node.scheduling())},
                             std::to_string(node.gpus()),
                             std::to_string(node.gpus_free()),
                             jobs_text(node),
                             {node.health(), colour_of(node.health())}};
    if (wide) {
      row.emplace_back(node.address());
      row.emplace_back(std::to_string(node.cpus()));
      row.emplace_back(short_bytes(node.memory_bytes()));
      row.emplace_back(node.gpu_model());
      row.emplace_back(node.agent_version());
    }
    row.emplace_back(reason_text(node));
    table.add_row(std::move(row));
  }
  return table.render(terminal);
}

std::string node_card(const v1::Node& node, const Terminal& terminal) {
  std::string text = node_table({node}, true, terminal);
  if (node.has_seen_at_us())
    text += fmt::format("\nlast report {}\n", local_time(node.seen_at_us()));
  if (node.checks().empty()) return text;
  Table checks({{"CHECK"}, {"STATE"}, {"SINCE"}, {"TEXT", false, true}});
  for (const v1::NodeCheck& check : node.checks()) {
    checks.add_row({check.name(),
                    {check.state(), colour_of(check.state())},
                    check.at_us() == 0 ? "-" : local_time(check.at_us()),
                    check.text()});
  }
  return text + "\n" + checks.render(terminal);
}

std::string cluster_card(const v1::Cluster& cluster, const Terminal& terminal) {
  std::string text;
  const auto add = [&](std::string_view key, std::string_view value) {
    text += fmt::format("{:<9} {}\n", key, printable(value));
  };
  text += fmt::format("{:<9} {}\n", "cluster",
                      paint(printable(cluster.name()), Colour::bold, terminal));
  add("server", fmt::format("{}, version {}, epoch {}", cluster.leader(), cluster.version(),
                            cluster.epoch()));
  add("gpus", fmt::format("{} in all: {} used, {} free, {} draining, {} broken",
                          cluster.gpus_total(), cluster.gpus_used(), cluster.gpus_free(),
                          cluster.gpus_draining(), cluster.gpus_broken()));
  add("nodes",
      counts_text(cluster.nodes_by_liveness()) + "; " + counts_text(cluster.nodes_by_scheduling()));
  add("jobs", counts_text(cluster.jobs_by_state()));
  return text;
}

}  // namespace hai::cli
