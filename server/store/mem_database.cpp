// The rows, the log and the lease behind MemStore.

#include <algorithm>
#include <utility>

#include "common/check.h"
#include "server/store/mem_store.h"

namespace hai {

Result<Epoch> MemDatabase::acquire(const std::string& holder, Duration lease, Epoch floor) {
  if (has_valid_lease() && holder_ != holder) {
    return failed_precondition("{} leads with epoch {}", holder_, epoch_.value);
  }
  remember();
  epoch_.value = std::max(epoch_, floor).value + 1;
  holder_ = holder;
  lease_expires_ = clock_.now() + lease;
  return epoch_;
}

Status MemDatabase::renew(const std::string& holder, Epoch epoch, Duration lease) {
  if (epoch != epoch_ || holder_ != holder) {
    return aborted("epoch {} is over: {} leads with epoch {}", epoch.value, holder_, epoch_.value);
  }
  lease_expires_ = std::max(lease_expires_, clock_.now() + lease);
  return ok();
}

void MemDatabase::release(const std::string& holder, Epoch epoch) {
  if (epoch == epoch_ && holder_ == holder) holder_.clear();
}

// A store that has gone back may give an epoch again, and its log come to the same length: only its
// holder tells who has it.
Status MemDatabase::append(const std::string& holder, AppendBatch& batch) {
  if (batch.epoch != epoch_ || holder_ != holder) {
    return aborted("epoch {} is over: {} leads with epoch {}", batch.epoch.value, holder_,
                   epoch_.value);
  }
  if (went_back() && !batch.events.empty() && batch.events.front().seq != last_seq_ + 1) {
    return aborted("event {} follows {}: this is not the store that was loaded",
                   batch.events.front().seq, last_seq_);
  }
  remember();
  for (Event& event : batch.events) {
    CHECK(event.seq == last_seq_ + 1);
    last_seq_ = event.seq;
    if (const auto* started = std::get_if<EpochStarted>(&event.body)) {
      started_epoch_ = started->epoch;
    }
    if (options_.keep_events) events_.push_back(std::move(event));
  }
  write_rows(batch);
  return ok();
}

void MemDatabase::remember() {
  if (options_.past_kept == 0) return;
  past_.emplace_back(contents());
  if (past_.size() > options_.past_kept) past_.pop_front();
}

void MemDatabase::go_back(size_t transactions) {
  transactions = std::min(transactions, past_.size());
  if (transactions == 0) return;
  const size_t left = past_.size() - transactions;
  const size_t nodes_known = nodes_.size();
  contents() = std::move(past_[left]);
  if (2 * nodes_.size() <= nodes_known && nodes_known > 0) has_forgotten_nodes_ = true;
  ++times_gone_back_;
  past_.resize(left);
  for (auto event = events_.begin() + last_seq_; event != events_.end(); ++event) {
    if (const auto* submitted = std::get_if<JobSubmitted>(&event->body)) {
      lost_jobs_.insert(submitted->job);
    }
  }
  events_.resize(static_cast<size_t>(last_seq_));
  break_sessions();
}

void MemDatabase::write_rows(AppendBatch& batch) {
  for (Job& job : batch.jobs) {
    last_job_ = std::max(last_job_, job.id);
    if (job.is_terminal() && !options_.keep_finished) {
      jobs_.erase(job.id);
    } else {
      jobs_.insert_or_assign(job.id, std::move(job));
    }
  }
  for (Node& node : batch.nodes) {
    node.occupants.clear();  // derived from the jobs
    node.held.clear();
    nodes_.insert_or_assign(node.id, std::move(node));
  }
  for (const std::string& name : batch.removed_users) users_.erase(name);
  for (User& user : batch.users) users_.insert_or_assign(user.name, user);
  for (const Quota& quota : batch.removed_quotas) {
    quotas_.erase({quota.owner, quota.group, quota.priority});
  }
  for (const Quota& quota : batch.quotas) {
    quotas_.insert_or_assign({quota.owner, quota.group, quota.priority}, quota);
  }
  for (const std::string& hash : batch.removed_tokens) tokens_.erase(hash);
  for (const Token& token : batch.tokens) tokens_.insert_or_assign(token.hash, token);
  for (const Secret& secret : batch.removed_secrets) secrets_.erase({secret.user, secret.name});
  for (const Secret& secret : batch.secrets) {
    secrets_.insert_or_assign({secret.user, secret.name}, secret);
  }
  for (const NodeIdentity& identity : batch.identities) {
    identities_.insert_or_assign(identity.node, identity);
  }
  for (const std::string& name : batch.removed_knobs) knobs_.erase(name);
  for (const KnobSetting& knob : batch.knobs) knobs_.insert_or_assign(knob.name, knob);
  for (Incident& incident : batch.incidents) {
    incidents_.insert_or_assign(incident.id, std::move(incident));
  }
}

StoredState MemDatabase::stored_state() const {
  StoredState state;
  state.epoch = started_epoch_;
  state.last_seq = last_seq_;
  state.last_job = last_job_;
  for (const auto& [id, job] : jobs_) {
    if (!job.is_terminal()) state.jobs.push_back(job);
  }
  for (auto job = jobs_.rbegin(); job != jobs_.rend(); ++job) {
    if (state.requests.size() == kAnsweredRequestsMax) break;
    if (job->second.request_id.empty()) continue;
    state.requests.push_back({job->second.user, job->second.request_id, job->first});
  }
  for (const auto& [id, node] : nodes_) state.nodes.push_back(node);
  for (const auto& [name, user] : users_) state.users.push_back(user);
  for (const auto& [key, quota] : quotas_) state.quotas.push_back(quota);
  for (const auto& [hash, token] : tokens_) state.tokens.push_back(token);
  for (const auto& [key, secret] : secrets_) state.secrets.push_back(secret);
  for (const auto& [node, identity] : identities_) state.identities.push_back(identity);
  for (const auto& [name, knob] : knobs_) state.knobs.push_back(knob);
  for (const auto& [id, incident] : incidents_) {
    state.last_incident = id;
    if (!incident.closed_at) state.incidents.push_back(incident);
  }
  return state;
}

}  // namespace hai
