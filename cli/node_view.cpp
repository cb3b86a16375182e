#include "cli/node_view.h"

#include <fmt/format.h>

#include "cli/format.h"
#include "cli/table.h"
#include "common/hostlist.h"

namespace hai::cli {
namespace {

std::string jobs_text(const v1::Node& node) {
  return fmt::format("{}", fmt::join(node.jobs().begin(), node.jobs().end(), ","));
}

std::string reason_text(const v1::Node& node) {
  std::string text = node.reason();
  if (!text.empty() && !node.reason_by().empty()) text += fmt::format(" (by {})", node.reason_by());
  if (!node.has_drain_at_us()) return text;
  return fmt::format("{}{}to be drained by {}", text, text.empty() ? "" : ", ",
                     local_time(node.drain_at_us()));
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

namespace {

struct NodeColumns {
  bool wide = false;
  bool reason = true;
};

std::string render_nodes(const std::vector<v1::Node>& nodes, NodeColumns shown,
                         const Terminal& terminal) {
  std::vector<Column> columns = {{"NAME"},
                                 {.title = "GROUP", .spare = 2},
                                 {.title = "ZONE", .spare = 4},
                                 {.title = "LEAF", .spare = 3},
                                 {"LIVENESS"},
                                 {"SCHEDULING"},
                                 {.title = "GPUS", .right = true, .spare = 1},
                                 {"FREE", true},
                                 {"JOBS", false, true},
                                 {"HEALTH"}};
  if (shown.wide) {
    const std::vector<Column> more = {{"ADDRESS"},      {"CPUS", true}, {"FREE", true},
                                      {"MEMORY", true}, {"FREE", true}, {"GPU MODEL"},
                                      {"AGENT"}};
    columns.insert(columns.end(), more.begin(), more.end());
  }
  if (shown.reason) columns.push_back({"REASON", false, true, 12});
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
    if (shown.wide) {
      row.emplace_back(node.address());
      row.emplace_back(std::to_string(node.cpus()));
      row.emplace_back(std::to_string(node.cpus_free()));
      row.emplace_back(short_bytes(node.memory_bytes()));
      row.emplace_back(short_bytes(node.memory_free_bytes()));
      row.emplace_back(node.gpu_model());
      row.emplace_back(node.agent_version());
    }
    if (shown.reason) row.emplace_back(reason_text(node));
    table.add_row(std::move(row));
  }
  // Whoever asks for all columns wants to read them; on a card there is no place for that.
  Terminal paper = terminal;
  if (shown.wide && shown.reason) paper.width = 0;
  return table.render(paper);
}

// How far its repair is, what was measured last, and what speaks against it.
std::string history_text(const v1::Node& node) {
  std::string text;
  if (node.has_repair()) {
    const v1::NodeRepair& repair = node.repair();
    text += fmt::format("repair      {} since {}: {}\n", repair.step(),
                        local_time(repair.since_us()), printable(repair.reason()));
    if (repair.incident() != 0) {
      text +=
          fmt::format("            `hai incidents show {}` tells its story\n", repair.incident());
    }
  }
  if (const v1::NodeValidation& validation = node.validation(); validation.has_text()) {
    text += fmt::format(
        "validation  {}; last passed {}\n", printable(validation.text()),
        validation.has_passed_at_us() ? local_time(validation.passed_at_us()) : "never");
  }
  if (node.lemon_score() > 0) {
    text += fmt::format("record      {} points: {}\n", node.lemon_score(), node.lemon_text());
  }
  return text;
}

// What jobs may ask for, and what an operator has set in place of what its agent says.
std::string position_text(const v1::Node& node) {
  std::string text;
  if (!node.labels().empty()) {
    text += fmt::format("labels      {}\n",
                        printable(fmt::format("{}", fmt::join(node.labels(), ", "))));
  }
  if (!node.set().empty()) {
    text += fmt::format("set         by an operator: {}\n", fmt::join(node.set(), ", "));
  }
  return text;
}

// "87 % 65 °C, 0 % 41 °C, …", by index.
std::string gpus_text(const v1::Node& node) {
  std::vector<std::string> gpus;
  for (int gpu = 0; gpu < node.gpu_utilization_size(); ++gpu) {
    const int busy = node.gpu_utilization(gpu);
    std::string text = busy < 0 ? "-" : fmt::format("{} %", busy);
    if (node.gpu_temperature(gpu) >= 0) text += fmt::format(" {} °C", node.gpu_temperature(gpu));
    gpus.push_back(std::move(text));
  }
  return gpus.empty() ? "" : fmt::format("GPUs        {}\n", fmt::join(gpus, ", "));
}

// Says nothing that one would have to read.
bool is_quiet(const v1::NodeCheck& check) {
  return check.state() == "ok" || check.state() == "unknown";
}

std::string checks_text(const v1::Node& node, bool wide) {
  if (wide || node.checks().empty()) return "";
  std::map<std::string, int> counts;
  for (const v1::NodeCheck& check : node.checks()) ++counts[check.state()];
  return fmt::format("checks      {}; -o wide lists all\n", counts_text(counts));
}

}  // namespace

std::string node_table(const std::vector<v1::Node>& nodes, bool wide, const Terminal& terminal) {
  return render_nodes(nodes, {.wide = wide}, terminal);
}

std::string node_tree(const std::vector<v1::Node>& nodes, const Terminal& terminal) {
  struct Leaf {
    std::vector<std::string> names;
    int gpus = 0;
    int free = 0;
  };
  std::map<std::string, std::map<std::string, std::map<std::string, Leaf>>> groups;
  for (const v1::Node& node : nodes) {
    Leaf& leaf = groups[node.group()][node.zone()][node.leaf()];
    leaf.names.push_back(node.name());
    leaf.gpus += node.gpus();
    leaf.free += node.gpus_free();
  }
  std::string text;
  for (const auto& [group, zones] : groups) {
    text += paint(printable(group), Colour::bold, terminal) + "\n";
    for (const auto& [zone, leaves] : zones) {
      text += fmt::format("  zone {}\n", printable(zone));
      for (const auto& [name, leaf] : leaves) {
        text += fmt::format("    {}: {}, {} of {} GPUs free\n", printable(name),
                            format_hostlist(leaf.names), leaf.free, leaf.gpus);
      }
    }
  }
  return text;
}

std::string node_card(const v1::Node& node, bool wide, const Terminal& terminal) {
  std::string text = render_nodes({node}, {.wide = true, .reason = false}, terminal) + "\n";
  const bool is_repairs = node.has_repair() && node.repair().reason() == node.reason();
  if (!reason_text(node).empty() && !is_repairs)
    text += "reason      " + printable(reason_text(node)) + "\n";
  text += position_text(node) + gpus_text(node) + history_text(node) + checks_text(node, wide);
  if (node.checks().empty()) return text;
  Table checks(
      {{"CHECK"}, {"OF"}, {"STATE"}, {"TIER"}, {"DONE"}, {"SINCE"}, {"TEXT", false, true}});
  for (const v1::NodeCheck& check : node.checks()) {
    if (!wide && is_quiet(check)) continue;
    const bool fails = check.state() == "fail";
    checks.add_row({check.name(),
                    check.subject(),
                    {check.state(), colour_of(check.state())},
                    fails ? check.tier() : "",
                    check.done(),
                    check.at_us() == 0 ? "-" : local_time(check.at_us()),
                    check.text()});
  }
  return checks.is_empty() ? text : text + "\n" + checks.render(terminal);
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
  add("gpus", fmt::format("{} in all: {} used, {} free, {} reserved, {} draining, {} broken",
                          cluster.gpus_total(), cluster.gpus_used(), cluster.gpus_free(),
                          cluster.gpus_reserved(), cluster.gpus_draining(), cluster.gpus_broken()));
  if (cluster.cpus_total() > 0) {
    add("cpus", fmt::format("{} in all: {} used, {} free", cluster.cpus_total(),
                            cluster.cpus_used(), cluster.cpus_free()));
  }
  if (cluster.memory_total_bytes() > 0) {
    add("memory",
        fmt::format("{} in all: {} used, {} free", short_bytes(cluster.memory_total_bytes()),
                    short_bytes(cluster.memory_used_bytes()),
                    short_bytes(cluster.memory_free_bytes())));
  }
  add("nodes",
      counts_text(cluster.nodes_by_liveness()) + "; " + counts_text(cluster.nodes_by_scheduling()));
  add("jobs", counts_text(cluster.jobs_by_state()));
  return text;
}

}  // namespace hai::cli
