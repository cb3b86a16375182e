#include "server/control/nodes/decide_mass_loss.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "server/control/node_names.h"

namespace hai {
namespace {

// In a small cluster one node is already more than any share of it.
constexpr int kLostNodesMin = 3;

bool is_silent(const Knobs& knobs, const Sessions& sessions, const Node& node, MonoTime now) {
  return node.liveness == Liveness::suspect &&
         now - sessions.contact(node.id) > silence_limit(knobs);
}

struct Loss {
  std::string subject;
  std::string what;
};

// Whether so many are silent that the network is to be suspected.
std::optional<Loss> find_loss(const Decision& decision, const std::vector<NodeId>& silent) {
  const ClusterState& state = decision.state();
  std::map<std::string, int> silent_of_leaf;
  for (NodeId id : silent) ++silent_of_leaf[leaf_of(*state.find(id))];
  std::map<std::string, int> size_of_leaf;
  int not_down = 0;
  for (const auto& [id, node] : state.nodes()) {
    if (node.liveness == Liveness::down) continue;
    ++not_down;
    if (silent_of_leaf.contains(leaf_of(node))) ++size_of_leaf[leaf_of(node)];
  }
  std::vector<std::string> leaves;
  for (const auto& [leaf, count] : silent_of_leaf) {
    if (count >= 2 && count == size_of_leaf[leaf]) leaves.push_back(leaf);
  }
  const int count = static_cast<int>(silent.size());
  const int limit = std::max(kLostNodesMin, not_down * decision.knobs().mass_loss_permille / 1000);
  if (count < limit && leaves.empty()) return std::nullopt;
  const std::string nodes = fmt::format("{} of {} nodes fell silent at once", count, not_down);
  if (leaves.size() == 1 && count == silent_of_leaf[leaves[0]]) {
    return Loss{"leaf/" + leaves[0], nodes + ", all of leaf " + leaves[0]};
  }
  return Loss{"cluster", leaves.empty() ? nodes
                                        : fmt::format("{}, among them all of {} leaves", nodes,
                                                      leaves.size())};
}

void open(Decision& decision, const Loss& loss, std::vector<NodeId> silent) {
  const std::string summary = fmt::format(
      "{} ({}): the network is suspected; their jobs stay until the nodes return, have surely "
      "ended their ranks, or an operator says so with `hai fence`",
      loss.what, names_of(decision.state(), silent));
  decision.emit(IncidentOpened{{decision.state().last_incident().value + 1},
                               std::string(kMassLoss),
                               loss.subject,
                               summary,
                               std::move(silent)});
}

// What became of the nodes of an incident.
struct Fate {
  std::vector<NodeId> silent;  // not down yet
  std::vector<NodeId> down;
  std::vector<NodeId> back;
  std::vector<NodeId> removed;
};

Fate fate_of(const ClusterState& state, const std::vector<NodeId>& nodes) {
  Fate fate;
  for (NodeId id : nodes) {
    const Node& node = *state.find(id);
    if (node.removed_at) {
      fate.removed.push_back(id);
    } else if (node.liveness == Liveness::up) {
      fate.back.push_back(id);
    } else {
      (node.liveness == Liveness::down ? fate.down : fate.silent).push_back(id);
    }
  }
  return fate;
}

// Who falls silent while others of it are is part of it. Later one silent node is only that, and
// many at once make it larger.
void add_silent(const Decision& decision, const std::vector<NodeId>& all_silent, Fate& fate) {
  if (fate.silent.empty() && !find_loss(decision, all_silent)) return;
  std::set<NodeId> silent(fate.silent.begin(), fate.silent.end());
  silent.insert(all_silent.begin(), all_silent.end());
  fate.silent.assign(silent.begin(), silent.end());
}

void note(Decision& decision, IncidentId incident, const std::vector<NodeId>& nodes,
          std::string_view what) {
  if (nodes.empty()) return;
  decision.emit(
      IncidentNoted{incident, fmt::format("{} {}", names_of(decision.state(), nodes), what)});
}

std::string summary_of(const ClusterState& state, const Fate& fate,
                       const std::vector<NodeId>& away) {
  const std::string names = names_of(state, away);
  if (!fate.silent.empty())
    return fmt::format("{} nodes fell silent ({}): the network is suspected", away.size(), names);
  return fmt::format(
      "{} of the nodes that fell silent at once ({}) have surely ended their ranks and are down: "
      "their jobs run elsewhere; this ends when they are back, removed with `hai node remove`, or "
      "given up with `hai incident close`",
      away.size(), names);
}

// Open until each node is back or a person has given it up: that its ranks have surely ended makes
// its jobs run elsewhere, and the node is broken as before. Whoever is back is no part of it any
// more: what happens to it then is its own.
void follow(Decision& decision, const Incident& incident, const std::vector<NodeId>& silent) {
  const IncidentId id = incident.id;
  const std::vector<NodeId> before = incident.nodes;
  const std::string said = incident.summary;
  Fate fate = fate_of(decision.state(), before);
  add_silent(decision, silent, fate);
  note(decision, id, fate.back, "back");
  note(decision, id, fate.removed, "removed");
  std::vector<NodeId> away = fate.silent;
  away.insert(away.end(), fate.down.begin(), fate.down.end());
  std::ranges::sort(away);
  if (away.empty()) {
    decision.emit(IncidentClosed{id, "each of its nodes is back or was removed"});
    return;
  }
  const std::string summary = summary_of(decision.state(), fate, away);
  const bool has_ended = fate.silent.empty() && summary != said;
  if (away != before || has_ended) decision.emit(IncidentChanged{id, summary, away});
}

}  // namespace

void decide_mass_loss(Decision& decision, const Sessions& sessions, MonoTime now) {
  const Knobs& knobs = decision.knobs();
  // A new leader has not heard of anybody yet.
  if (now - sessions.term_start() < knobs.down_after / 2) return;
  std::vector<NodeId> silent;
  for (const auto& [id, node] : decision.state().nodes()) {
    if (is_silent(knobs, sessions, node, now)) silent.push_back(id);
  }
  if (const Incident* incident = decision.state().open_incident(kMassLoss)) {
    return follow(decision, *incident, silent);
  }
  if (silent.size() < 2) return;
  if (std::optional<Loss> loss = find_loss(decision, silent)) {
    open(decision, *loss, std::move(silent));
  }
}

}  // namespace hai
