#include "server/control/engine/append_batch.h"

namespace hai {

AppendBatch rows_to_append(const ClusterState& state, Touched touched) {
  AppendBatch batch;
  for (JobId id : touched.jobs) {
    if (const Job* job = state.find(id)) batch.jobs.push_back(*job);
  }
  batch.replaced_attempts = std::move(touched.replaced_attempts);
  for (NodeId id : touched.nodes) batch.nodes.push_back(*state.find(id));
  for (const std::string& name : touched.users) {
    if (const User* user = state.find_user(name)) {
      batch.users.push_back(*user);
    } else {
      batch.removed_users.push_back(name);
    }
  }
  for (const auto& key : touched.quotas) {
    auto it = state.quotas().find(key);
    if (it != state.quotas().end()) {
      batch.quotas.push_back(it->second);
    } else {
      batch.removed_quotas.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), 0});
    }
  }
  for (const std::string& hash : touched.tokens) {
    if (const Token* token = state.find_token(hash)) {
      batch.tokens.push_back(*token);
    } else {
      batch.removed_tokens.push_back(hash);
    }
  }
  for (const auto& [user, name] : touched.secrets) {
    if (const Secret* secret = state.find_secret(user, name)) {
      batch.secrets.push_back(*secret);
    } else {
      batch.removed_secrets.push_back({.user = user, .name = name});
    }
  }
  for (const std::string& node : touched.identities) {
    batch.identities.push_back(*state.find_identity(node));
  }
  for (const std::string& name : touched.knobs) {
    const auto knob = state.knobs().find(name);
    if (knob != state.knobs().end()) {
      batch.knobs.push_back(knob->second);
    } else {
      batch.removed_knobs.push_back(name);
    }
  }
  for (IncidentId id : touched.incidents) batch.incidents.push_back(state.incidents().at(id));
  for (Incident& closed : touched.closed_incidents) batch.incidents.push_back(std::move(closed));
  return batch;
}

}  // namespace hai
