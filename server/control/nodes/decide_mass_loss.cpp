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
  int back = 0;
  int removed = 0;
  std::vector<NodeId> down;
  int silent = 0;  // not down yet
};

Fate fate_of(const ClusterState& state, const std::vector<NodeId>& nodes) {
  Fate fate;
  for (NodeId id : nodes) {
    const Node& node = *state.find(id);
    if (node.removed_at) {
      ++fate.removed;
    } else if (node.liveness == Liveness::up) {
      ++fate.back;
    } else if (node.liveness == Liveness::down) {
      fate.down.push_back(id);
    } else {
      ++fate.silent;
    }
  }
  return fate;
}

void say_who_is_away(Decision& decision, const Incident& incident, const Fate& fate) {
  const std::string summary = fmt::format(
      "of {} nodes that fell silent at once {} are back, and {} ({}) have surely ended their ranks "
      "and are down: their jobs run elsewhere; this ends when they are back, removed with `hai "
      "node remove`, or given up with `hai incident close`",
      incident.nodes.size(), fate.back, fate.down.size(), names_of(decision.state(), fate.down));
  if (summary == incident.summary) return;
  decision.emit(IncidentChanged{incident.id, summary, incident.nodes});
}

// Who falls silent while others of it are is part of it. Later one silent node is only that, and
// many at once make it larger.
bool add_silent(Decision& decision, const Incident& incident, const Fate& fate,
                const std::vector<NodeId>& silent) {
  std::set<NodeId> all(incident.nodes.begin(), incident.nodes.end());
  std::vector<NodeId> added;
  for (NodeId id : silent) {
    if (!all.contains(id)) added.push_back(id);
  }
  if (added.empty() || (fate.silent == 0 && !find_loss(decision, silent))) return false;
  all.insert(added.begin(), added.end());
  std::vector<NodeId> nodes(all.begin(), all.end());
  decision.emit(IncidentChanged{incident.id,
                                fmt::format("{} nodes fell silent ({}): the network is suspected",
                                            nodes.size(), names_of(decision.state(), nodes)),
                                nodes});
  return true;
}

// Open until each node is back or a person has given it up: that its ranks have surely ended makes
// its jobs run elsewhere, and the node is broken as before.
void follow(Decision& decision, const Incident& incident, const std::vector<NodeId>& silent) {
  const Fate fate = fate_of(decision.state(), incident.nodes);
  if (add_silent(decision, incident, fate, silent) || fate.silent > 0) return;
  if (!fate.down.empty()) return say_who_is_away(decision, incident, fate);
  const std::string removed =
      fate.removed == 0 ? "" : fmt::format(", {} were removed", fate.removed);
  decision.emit(
      IncidentClosed{incident.id, fmt::format("{} nodes are back{}", fate.back, removed)});
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
