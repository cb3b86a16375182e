// ClusterState, the part about going back to what is durable.

#include "server/model/before_images.h"

#include "common/check.h"
#include "server/model/cluster_state.h"

namespace hai {
namespace {

template <typename Map, typename Images>
void keep(const Map& map, const typename Map::key_type& key, Images& images) {
  if (images.contains(key)) return;
  auto it = map.find(key);
  images.emplace(key, it == map.end() ? std::nullopt : std::optional(it->second));
}

template <typename Map, typename Images>
void put_back(Map& map, Images& images) {
  for (auto& [key, image] : images) {
    if (image) {
      map.insert_or_assign(key, std::move(*image));
    } else {
      map.erase(key);
    }
  }
}

template <typename Map>
auto values(Map& map) {
  std::vector<typename Map::mapped_type> values;
  values.reserve(map.size());
  for (auto& [key, value] : map) values.push_back(std::move(value));
  return values;
}

}  // namespace

void ClusterState::mark_durable() {
  if (before_ && !has_undurable()) return;
  before_.emplace();
  before_->epoch = epoch_;
  before_->last_seq = last_seq_;
  before_->last_job = last_job_;
  before_->last_incident = last_incident_;
}

bool ClusterState::has_undurable() const { return before_ && before_->last_seq != last_seq_; }

// Called before each event is applied, with all that it may change.
void ClusterState::keep_before(const Event& event) {
  const EventBody& body = event.body;
  if (JobId id = job_of(body)) keep_job_before(id);
  if (NodeId id = node_of(body)) keep(nodes_, id, before_->nodes);
  if (const auto* finished = std::get_if<JobFinished>(&body)) {
    keep_dependents_before(finished->job);
  } else if (const auto* ended = std::get_if<AttemptEnded>(&body)) {
    if (const Job* job = find(ended->job)) keep(users_, job->user, before_->users);
  } else if (std::holds_alternative<EpochStarted>(body) || replaces_an_agent(body)) {
    for (const auto& [id, node] : nodes_) keep(nodes_, id, before_->nodes);
  } else if (const auto* user = std::get_if<UserSet>(&body)) {
    keep(users_, user->user.name, before_->users);
  } else if (const auto* set = std::get_if<QuotaSet>(&body)) {
    keep(quotas_, {set->quota.owner, set->quota.group, set->quota.priority}, before_->quotas);
  } else if (const auto* gone = std::get_if<QuotaRemoved>(&body)) {
    keep(quotas_, {gone->quota.owner, gone->quota.group, gone->quota.priority}, before_->quotas);
  } else if (const auto* token = std::get_if<TokenSet>(&body)) {
    keep(tokens_, token->token.hash, before_->tokens);
  } else if (const auto* revoked = std::get_if<TokenRevoked>(&body)) {
    keep(tokens_, revoked->hash, before_->tokens);
  } else if (const auto* opened = std::get_if<IncidentOpened>(&body)) {
    keep(incidents_, opened->incident, before_->incidents);
  } else if (const auto* changed = std::get_if<IncidentChanged>(&body)) {
    keep(incidents_, changed->incident, before_->incidents);
  } else if (const auto* noted = std::get_if<IncidentNoted>(&body)) {
    keep(incidents_, noted->incident, before_->incidents);
  } else if (const auto* reopened = std::get_if<JobReopened>(&body)) {
    keep_dependents_before(reopened->job);
  } else if (const auto* closed = std::get_if<IncidentClosed>(&body)) {
    keep(incidents_, closed->incident, before_->incidents);
  }
}

bool ClusterState::replaces_an_agent(const EventBody& body) const {
  const auto* registered = std::get_if<NodeRegistered>(&body);
  const Node* known = registered == nullptr ? nullptr : find(registered->node);
  return known != nullptr && is_another_agent(known->facts, registered->facts);
}

void ClusterState::keep_dependents_before(JobId id) {
  auto it = dependents_.find(id);
  if (it == dependents_.end()) return;
  for (JobId dependent : it->second) keep_job_before(dependent);
}

// A job that is new since then needs no image: its number tells. Most turns are about such jobs.
void ClusterState::keep_job_before(JobId id) {
  if (id > before_->last_job || before_->jobs.contains(id)) return;
  if (const Job* job = find(id)) before_->jobs.emplace(id, *job);
}

StoredState ClusterState::take_durable() && {
  CHECK(before_.has_value());
  BeforeImages& before = *before_;
  jobs_.erase(jobs_.upper_bound(before.last_job), jobs_.end());
  for (auto& [id, job] : before.jobs) jobs_.insert_or_assign(id, std::move(job));
  put_back(nodes_, before.nodes);
  put_back(users_, before.users);
  put_back(quotas_, before.quotas);
  put_back(tokens_, before.tokens);
  put_back(incidents_, before.incidents);
  StoredState stored;
  stored.epoch = before.epoch;
  stored.last_seq = before.last_seq;
  stored.last_job = before.last_job;
  stored.jobs = values(jobs_);
  stored.nodes = values(nodes_);
  for (Node& node : stored.nodes) {
    node.occupants.clear();  // derived from the jobs anew
    node.held.clear();
  }
  stored.users = values(users_);
  stored.quotas = values(quotas_);
  stored.tokens = values(tokens_);
  stored.last_incident = before.last_incident;
  stored.incidents = values(incidents_);
  return stored;
}

}  // namespace hai
