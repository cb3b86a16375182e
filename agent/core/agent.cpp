#include "agent/core/agent.h"

#include <algorithm>

namespace hai {

Agent::Agent(Loop& loop, RankHost& host, ServerLink& link, NodeFacts facts)
    : loop_(loop), host_(host), link_(link), facts_(std::move(facts)) {}

Agent::~Agent() {
  *self_ = nullptr;
  loop_.cancel(heartbeat_timer_);
}

void Agent::start() {
  for (RankStatus& status : host_.adopt()) ranks_.insert_or_assign(status.key, std::move(status));
  host_.set_listener([self = self_](const RankStatus& status) {
    if (*self != nullptr) (*self)->rank_changed(status);
  });
  link_.start({.connected =
                   [self = self_] {
                     if (*self != nullptr) (*self)->connected();
                   },
               .order =
                   [self = self_](const AgentOrder& order) {
                     if (*self != nullptr) (*self)->order(order);
                   },
               .disconnected =
                   [self = self_] {
                     if (*self != nullptr) (*self)->disconnected();
                   }});
  arm_heartbeat();
}

void Agent::connected() {
  is_connected_ = true;
  send_facts_ = true;
  sent_at_.clear();  // Answers to an earlier stream's reports don't come on this one.
  report_now();
}

void Agent::disconnected() {
  is_connected_ = false;
  sent_at_.clear();
}

void Agent::order(const AgentOrder& order) {
  if (order.epoch < epoch_) return;  // An older leader that doesn't know it yet.
  epoch_ = order.epoch;
  std::visit([this](const auto& body) { on(body); }, order.body);
}

bool Agent::is_forgotten(const RankKey& key) const {
  auto it = forgotten_.find(key.job);
  return it != forgotten_.end() && key.attempt <= it->second;
}

void Agent::on(const LaunchRank& order) {
  if (ranks_.contains(order.key) || is_forgotten(order.key)) return;
  RankStatus& status = ranks_[order.key];
  status.key = order.key;
  if (loop_.now() >= lease_until_) {
    status.phase = RankPhase::exited;
    status.cause = ExitCause::fenced;
    status.message = "the launch came after the node's lease had ended";
    report_soon();
    return;
  }
  host_.launch(order, lease_until_);
  report_soon();
}

void Agent::on(const SuspendRank& order) {
  auto it = ranks_.find(order.key);
  if (it != ranks_.end() && it->second.phase != RankPhase::exited)
    host_.suspend(order.key, order.grace);
}

void Agent::on(const ContinueRank& order) {
  auto it = ranks_.find(order.key);
  if (it != ranks_.end() && it->second.phase != RankPhase::exited) host_.resume(order.key);
}

void Agent::on(const KillRank& order) {
  auto it = ranks_.find(order.key);
  if (it == ranks_.end()) {
    // Never launched here: say that it is gone, and keep a late launch of it from running.
    if (is_forgotten(order.key)) return;
    ranks_[order.key] = {.key = order.key, .phase = RankPhase::exited, .cause = ExitCause::killed};
    report_soon();
    return;
  }
  if (it->second.phase != RankPhase::exited) host_.kill(order.key);
}

void Agent::on(const ForgetRank& order) {
  auto it = ranks_.find(order.key);
  if (it == ranks_.end() || it->second.phase != RankPhase::exited) return;
  ranks_.erase(it);
  host_.forget(order.key);
  int& attempt = forgotten_[order.key.job];
  attempt = std::max(attempt, order.key.attempt);
  if (forgotten_.size() > kForgottenMax) forgotten_.erase(forgotten_.begin());
}

void Agent::on(const GrantLease& order) {
  set_heartbeat(std::max(order.heartbeat, Duration(100ms)));
  auto it = sent_at_.find(order.report_sequence);
  if (it == sent_at_.end()) return;
  MonoTime until = it->second + order.lease;
  sent_at_.erase(sent_at_.begin(), std::next(it));
  if (until <= lease_until_) return;
  lease_until_ = until;
  host_.extend_leases(until);
}

void Agent::on(const RefuseAgent&) {
  send_facts_ = true;  // The link drops the stream and tries again later.
}

void Agent::rank_changed(const RankStatus& status) {
  auto it = ranks_.find(status.key);
  if (it == ranks_.end() || it->second == status) return;
  it->second = status;
  report_soon();
}

// Changes of one moment share a report.
void Agent::report_soon() {
  if (report_posted_ || !is_connected_) return;
  report_posted_ = true;
  loop_.post([self = self_] {
    if (*self == nullptr) return;
    (*self)->report_posted_ = false;
    (*self)->report_now();
  });
}

void Agent::report_now() {
  if (!is_connected_) return;
  AgentReport report{.node = facts_.name, .sequence = ++sequence_};
  if (std::exchange(send_facts_, false)) report.facts = facts_;
  for (const auto& [key, status] : ranks_) report.ranks.push_back(status);
  sent_at_.emplace(sequence_, loop_.now());
  if (sent_at_.size() > kUnansweredMax) sent_at_.erase(sent_at_.begin());
  link_.send(report);
}

// At once: a server that expects a report each second would find a node suspect whose timer still
// runs for the five it began with.
void Agent::set_heartbeat(Duration heartbeat) {
  if (heartbeat == heartbeat_) return;
  heartbeat_ = heartbeat;
  loop_.cancel(heartbeat_timer_);
  arm_heartbeat();
}

void Agent::arm_heartbeat() {
  heartbeat_timer_ = loop_.call_after(heartbeat_, [self = self_] {
    if (*self == nullptr) return;
    (*self)->report_now();
    (*self)->arm_heartbeat();
  });
}

}  // namespace hai
