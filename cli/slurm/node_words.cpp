#include "cli/slurm/node_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/slurm/slurm_time.h"
#include "common/hostlist.h"
#include "common/job_spec.h"

namespace hai::cli::slurm {
namespace {

using Nodes = std::vector<const v1::Node*>;

bool is_broken(const v1::Node& node) {
  const std::string_view code = node_state(node).code;
  return code != "idle" && code != "alloc" && code != "mix";
}

bool is_busy(const v1::Node& node) {
  const std::string_view code = node_state(node).code;
  return code == "alloc" || code == "mix";
}

template <typename Count>
int64_t sum(const Nodes& nodes, const Count& count) {
  int64_t all = 0;
  for (const v1::Node* node : nodes) all += count(*node);
  return all;
}

// Allocated/idle[/other/total], of nodes or of CPUs.
std::string usage(const Nodes& nodes, bool is_cpus, bool is_short) {
  const auto weight = [&](const v1::Node& n) { return is_cpus ? n.cpus() : 1; };
  const auto busy = sum(nodes, [&](const v1::Node& n) { return is_busy(n) ? weight(n) : 0; });
  const auto other = sum(nodes, [&](const v1::Node& n) { return is_broken(n) ? weight(n) : 0; });
  const auto all = sum(nodes, weight);
  if (is_short) return fmt::format("{}/{}", busy, all - busy - other);
  return fmt::format("{}/{}/{}/{}", busy, all - busy - other, other, all);
}

std::string starred(const NodeState& state, bool is_long) {
  return std::string(is_long ? state.name : state.code) + (state.answers ? "" : "*");
}

// Of one node, and of several that are alike in it.
std::string node_value(const v1::Node& node, char letter) {
  switch (letter) {
    case 'a':
      return "up";
    case 'c':
      return std::to_string(node.cpus());
    case 'E':
      return node.reason().empty() ? "none" : node.reason();
    case 'f':
      return "(null)";
    case 'g':  // who may use it is a matter of quotas
      return "all";
    case 'h':
    case 'r':
      return letter == 'h' ? "NO" : "no";
    case 's':
      return "1-infinite";
    case 'G':
      return node.gpus() > 0 ? fmt::format("gpu:{}", node.gpus()) : "(null)";
    case 'l':
      return "infinite";
    case 'm':
      return std::to_string(node.memory_bytes() >> 20);
    case 'o':
      return node.address();
    case 'P':  // the star marks where jobs go that name no partition
      return node.group() + (node.group() == JobSpec().group ? "*" : "");
    case 'R':
      return node.group();
    case 't':
      return starred(node_state(node), false);
    case 'T':
      return starred(node_state(node), true);
    case 'u':
      return node.reason_by().empty() ? "none" : node.reason_by();
    default:
      return "";
  }
}

constexpr std::string_view kOfAll = "ACDFNn";  // letters that speak of all nodes of a line

std::string row_value(const Nodes& nodes, char letter) {
  switch (letter) {
    case 'A':
      return usage(nodes, false, true);
    case 'C':
      return usage(nodes, true, false);
    case 'D':
      return std::to_string(nodes.size());
    case 'F':
      return usage(nodes, false, false);
    case 'N':
    case 'n': {
      std::vector<std::string> names;
      for (const v1::Node* node : nodes) names.push_back(node->name());
      return format_hostlist(std::move(names));
    }
    default:
      return node_value(*nodes.front(), letter);
  }
}

}  // namespace

NodeState node_state(const v1::Node& node) {
  if (node.liveness() == "down") return {"down", "down", false};
  const bool answers = node.liveness() == "up";
  const bool busy = node.jobs_size() > 0;
  if (node.scheduling() != "open") {
    return busy ? NodeState{"drng", "draining", answers} : NodeState{"drain", "drained", answers};
  }
  if (node.gpus() > 0 ? node.gpus_free() == node.gpus() : !busy) return {"idle", "idle", answers};
  if (node.gpus() > 0 && node.gpus_free() > 0) return {"mix", "mixed", answers};
  return {"alloc", "allocated", answers};
}

const std::vector<KnownLetter>& node_letters() {
  static const std::vector<KnownLetter> kLetters = {{'a', "AVAIL"},
                                                    {'A', "NODES(A/I)"},
                                                    {'c', "CPUS"},
                                                    {'C', "CPUS(A/I/O/T)"},
                                                    {'D', "NODES"},
                                                    {'E', "REASON"},
                                                    {'f', "AVAIL_FEATURES"},
                                                    {'F', "NODES(A/I/O/T)"},
                                                    {'g', "GROUPS"},
                                                    {'G', "GRES"},
                                                    {'h', "OVERSUBS"},
                                                    {'r', "ROOT"},
                                                    {'s', "JOB_SIZE"},
                                                    {'l', "TIMELIMIT"},
                                                    {'m', "MEMORY"},
                                                    {'n', "HOSTNAMES"},
                                                    {'N', "NODELIST"},
                                                    {'o', "NODE_ADDR"},
                                                    {'P', "PARTITION"},
                                                    {'R', "PARTITION"},
                                                    {'t', "STATE"},
                                                    {'T', "STATE"},
                                                    {'u', "USER"}};
  return kLetters;
}

std::vector<std::function<std::string(char)>> node_rows(const std::vector<v1::Node>& nodes,
                                                        const std::vector<FormatField>& fields,
                                                        bool one_per_node) {
  std::vector<std::pair<std::string, Nodes>> groups;
  for (const v1::Node& node : nodes) {
    std::string key = one_per_node ? node.name() : node.group();
    for (const FormatField& field : fields) {
      if (field.letter == 'n') key += node.name();
      if (field.letter == 0 || kOfAll.find(field.letter) != std::string_view::npos) continue;
      key += '\n' + node_value(node, field.letter);
    }
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return group.first == key; });
    if (found == groups.end()) found = groups.insert(groups.end(), {key, {}});
    found->second.push_back(&node);
  }
  std::stable_sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) {
    const bool by_group = a.second.front()->group() < b.second.front()->group();
    return !one_per_node && by_group;
  });
  std::vector<std::function<std::string(char)>> rows;
  for (const auto& [key, members] : groups) {
    rows.emplace_back([members = members](char letter) { return row_value(members, letter); });
  }
  return rows;
}

std::string describe_node(const v1::Node& node, bool one_line) {
  const std::string gap = one_line ? " " : "\n   ";
  const NodeState state = node_state(node);
  std::string upper(state.name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  std::string text =
      fmt::format("NodeName={} CPUTot={} Gres=gpu:{}", node.name(), node.cpus(), node.gpus());
  text += gap + fmt::format("NodeAddr={} Version={}", node.address(), node.agent_version());
  text +=
      gap + fmt::format("RealMemory={} GpusFree={}", node.memory_bytes() >> 20, node.gpus_free());
  text +=
      gap + fmt::format("State={}{} Partitions={}", upper, state.answers ? "" : "*", node.group());
  if (!node.reason().empty()) {
    text += gap + fmt::format("Reason={} [{}]", node.reason(),
                              node.reason_by().empty() ? "hai" : node.reason_by());
  }
  return text + "\n" + (one_line ? "" : "\n");
}

}  // namespace hai::cli::slurm
