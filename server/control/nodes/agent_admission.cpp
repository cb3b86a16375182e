#include "server/control/nodes/agent_admission.h"

#include <fmt/core.h>

#include <algorithm>

#include "server/control/nodes/lost_history.h"

namespace hai {
namespace {

bool is_same_and_known(const std::string& one, const std::string& other) {
  return !one.empty() && one == other;
}

bool is_machine_started_anew(const AgentIdentity& owner, const AgentIdentity& newcomer) {
  return is_same_and_known(owner.machine, newcomer.machine) && !owner.boot_id.empty() &&
         !newcomer.boot_id.empty() && owner.boot_id != newcomer.boot_id;
}

std::string describe(const AgentIdentity& agent) {
  constexpr size_t kEnoughToTell = 8;
  return fmt::format("{} (instance {})", agent.address.empty() ? "?" : agent.address,
                     agent.instance.substr(0, kEnoughToTell));
}

const Incident* open_incident(const ClusterState& state, std::string_view kind,
                              const std::string& subject) {
  for (const auto& [id, incident] : state.incidents()) {
    if (incident.kind == kind && incident.subject == subject) return &incident;
  }
  return nullptr;
}

constexpr std::string_view kSubjectPrefix = "node/";

void note_refusal(Decision& decision, const std::string& name, const RefusedAgent& refused) {
  const std::string subject = std::string(kSubjectPrefix) + name;
  const Node* node = decision.state().find_node(name);
  const std::vector<NodeId> nodes =
      node == nullptr ? std::vector<NodeId>{} : std::vector<NodeId>{node->id};
  const Incident* open = open_incident(decision.state(), refused.incident_kind, subject);
  if (open == nullptr) {
    decision.emit(IncidentOpened{{decision.state().last_incident().value + 1},
                                 std::string(refused.incident_kind),
                                 subject,
                                 refused.why,
                                 nodes});
  } else if (open->summary != refused.why) {
    decision.emit(IncidentChanged{open->id, refused.why, nodes});
  }
}

bool is_about_refusals(const Incident& incident) {
  return incident.kind == kNameTaken || incident.kind == kNotBelieved;
}

bool still_stands(const Incident& incident, const Sessions& sessions, MonoTime now) {
  const auto it = sessions.refused.find(incident.subject.substr(kSubjectPrefix.size()));
  return it != sessions.refused.end() && it->second.incident_kind == incident.kind &&
         now - it->second.at <= kRefusalStands;
}

std::string_view end_of_refusals(const Incident& incident) {
  return incident.kind == kNameTaken ? "no other agent has asked for the name"
                                     : "it has said nothing of the kind";
}

}  // namespace

bool may_take_name(const AgentIdentity& owner, OwnerState owner_state,
                   const AgentIdentity& newcomer) {
  if (owner_state == OwnerState::none || owner_state == OwnerState::down) return true;
  if (owner.instance.empty() || newcomer.instance.empty()) return true;
  return owner.instance == newcomer.instance || is_machine_started_anew(owner, newcomer);
}

NameOwner owner_of_name(const ClusterState& state, const Sessions& sessions, const Knobs& knobs,
                        const std::string& name, MonoTime now, bool knows_history) {
  const Session* session = sessions.find(name);
  const Node* node = state.find_node(name);
  if (session == nullptr && node == nullptr) return {};
  NameOwner owner{.identity = session != nullptr ? session->identity : identity_of(node->facts)};
  owner.state =
      node == nullptr || node->liveness == Liveness::down ? OwnerState::down : OwnerState::silent;
  // The agent of a node that is down may be back, but not have said anything yet.
  if (session == nullptr && owner.state == OwnerState::down) return owner;
  const MonoTime opened_at = session == nullptr ? MonoTime{} : session->opened_at;
  const MonoTime heard_at =
      node == nullptr ? opened_at : std::max(opened_at, sessions.contact(node->id));
  if (now - heard_at <= silence_limit(knobs)) owner.state = OwnerState::answers;
  if (!knows_history && now - heard_at > time_to_settle(knobs)) owner.state = OwnerState::down;
  return owner;
}

Status check_owner(const std::string& name, const NameOwner& owner, const AgentIdentity& newcomer) {
  if (may_take_name(owner.identity, owner.state, newcomer)) return ok();
  if (owner.state == OwnerState::answers) {
    return already_exists(
        "the name {} belongs to the agent at {}, which answers; the agent at {} is another one: "
        "give it a name of its own, or stop the first one and wait until {} is down",
        name, describe(owner.identity), describe(newcomer), name);
  }
  return already_exists(
      "the name {} belongs to the agent at {}, which is silent, but its ranks may still run; the "
      "agent at {} may have the name when {} is down: once they have surely ended, or after `hai "
      "fence {}` by an operator who has seen that the first one is off",
      name, describe(owner.identity), describe(newcomer), name, name);
}

void decide_refused_agents(Decision& decision, const Sessions& sessions, MonoTime now) {
  for (const auto& [name, refusal] : sessions.refused) {
    if (now - refusal.at <= kRefusalStands) note_refusal(decision, name, refusal);
  }
  // A new leader has refused nobody yet.
  if (now - sessions.term_start() <= kRefusalStands) return;
  std::vector<IncidentClosed> over;
  for (const auto& [id, incident] : decision.state().incidents()) {
    if (!is_about_refusals(incident) || still_stands(incident, sessions, now)) continue;
    over.push_back(
        {id, fmt::format("{} for {}", end_of_refusals(incident), format_duration(kRefusalStands))});
  }
  for (IncidentClosed& closed : over) decision.emit(std::move(closed));
}

}  // namespace hai
