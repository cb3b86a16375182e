#include "agent/core/agent.h"

#include <fmt/core.h>

#include <algorithm>

namespace hai {

Agent::Agent(Loop& loop, Ports ports, NodeFacts facts)
    : loop_(loop),
      host_(ports.host),
      link_(ports.link),
      peers_(ports.peers),
      keeper_(ports.keeper),
      health_(ports.health),
      facts_(std::move(facts)),
      start_report_timer_(loop),
      heartbeat_timer_(loop),
      lease_timer_(loop),
      vote_(loop, ports.peers,
            [this](MonoTime asked_at) { let_ranks_live(asked_at + record_.fence); }) {}

void Agent::start() {
  if (std::optional<AgentRecord> kept = keeper_.load()) record_ = std::move(*kept);
  // At least: the shims may know of a later fence. An older agent kept its lease only.
  ranks_until_ = std::max(record_.ranks_until, record_.lease_until);
  for (RankStatus& status : host_.adopt()) ranks_.insert_or_assign(status.key, std::move(status));
  host_.set_listener(scope_.bind([this](const RankStatus& status) { rank_changed(status); }));
  link_.start({.connected = scope_.bind([this] { connected(); }),
               .order = scope_.bind([this](const AgentOrder& arrived) { order(arrived); }),
               .disconnected = scope_.bind([this] { disconnected(); })});
  peers_.start(
      {.asked = scope_.bind([this] { return lease_answer(); }),
       .answered = scope_.bind([this](int64_t round, const std::string& node, LeaseAnswer answer) {
         vote_.answered(round, node, answer);
       })});
  peers_.prepare(record_.peers.peers);
  if (health_ != nullptr) {
    health_->start(scope_.bind([this] {
      send_checks_ = true;
      report_soon();
    }));
  }
  arm_heartbeat();
  watch_lease();
}

void Agent::connected() {
  is_connected_ = true;
  granted_sequence_ = 0;
  send_facts_ = true;
  send_checks_ = true;
  gpu_readings_.clear();
  sent_at_.clear();  // Answers to an earlier stream's reports don't come on this one.
  asked_at_.reset();
  report_now();
}

void Agent::disconnected() {
  is_connected_ = false;
  sent_at_.clear();
}

void Agent::order(const AgentOrder& order) {
  if (order.epoch < record_.seen.epoch) return;  // An older leader that doesn't know it yet.
  const LogPosition position{order.epoch, order.seq};
  if (position > record_.seen || (position == record_.seen && record_.seen_proof.empty())) {
    record_.seen = position;
    record_.seen_proof = order.proof;
  }
  std::visit([this](const auto& body) { on(body); }, order.body);
}

bool Agent::is_forgotten(const RankKey& key) const {
  auto it = forgotten_.find(key.job);
  return it != forgotten_.end() && key.attempt <= it->second;
}

// A later attempt of the job, or an earlier one that still runs: the launch is out of date, or its
// leader does not know what runs here.
const RankKey* Agent::find_other_attempt(const RankKey& launched) const {
  for (auto it = ranks_.lower_bound({launched.job, 0, 0}); it != ranks_.end(); ++it) {
    const auto& [key, status] = *it;
    if (key.job != launched.job) break;
    if (key.attempt > launched.attempt) return &key;
    if (key.attempt < launched.attempt && status.phase != RankPhase::exited) return &key;
  }
  return nullptr;
}

void Agent::on(const LaunchRank& order) {
  if (ranks_.contains(order.key)) return;
  // A late one, or that of a leader whose store has forgotten the attempt: either way it must hear.
  if (is_forgotten(order.key))
    return refuse(order, ExitCause::lost, "this attempt has ended here before");
  if (const RankKey* other = find_other_attempt(order.key))
    return refuse(order, ExitCause::lost,
                  fmt::format("attempt {} of this job is here", other->attempt));
  if (loop_.now() >= record_.lease_until)
    return refuse(order, ExitCause::fenced, "the launch came after the node's lease had ended");
  ranks_[order.key] = {.key = order.key, .proof = order.proof};
  host_.launch(order, ranks_until_);
  report_within(kLaunchPause);
}

void Agent::on(const SuspendRank& order) {
  auto it = ranks_.find(order.key);
  // Not here: it need not come any more, and says so.
  if (it == ranks_.end()) return refuse(order.key, ExitCause::killed, "");
  if (it->second.phase != RankPhase::exited) host_.suspend(order);
}

void Agent::on(const ContinueRank& order) {
  auto it = ranks_.find(order.key);
  if (it != ranks_.end() && it->second.phase != RankPhase::exited) host_.resume(order.key);
}

void Agent::on(const KillRank& order) {
  auto it = ranks_.find(order.key);
  // Not here, or not any more: say that it is gone, which also keeps a late launch of it from
  // running.
  if (it == ranks_.end()) return refuse(order.key, ExitCause::killed, "");
  if (it->second.phase == RankPhase::exited) return;
  if (order.take_evidence) {
    host_.kill_with_evidence(order.key);
  } else {
    host_.kill(order.key);
  }
}

// That an order named it proves nothing of a launch: the server may have heard of it from us.
void Agent::refuse(const RankKey& key, ExitCause cause, std::string message) {
  ranks_[key] = {.key = key,
                 .phase = RankPhase::exited,
                 .cause = cause,
                 .message = std::move(message),
                 .was_ordered = false};
  report_soon();
}

void Agent::refuse(const LaunchRank& order, ExitCause cause, std::string message) {
  refuse(order.key, cause, std::move(message));
  ranks_[order.key].proof = order.proof;
  ranks_[order.key].was_ordered = true;
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
  const MonoTime sent_at = it->second;
  sent_at_.erase(sent_at_.begin(), std::next(it));
  // The server read its clock somewhere between our report and its answer.
  if (health_ != nullptr && order.server_time != UnixTime{}) {
    health_->set_server_skew(order.server_time - loop_.wall_now() + (loop_.now() - sent_at) / 2);
  }
  record_.fence = std::max(order.fence, order.lease);
  record_.lease_until = std::max(record_.lease_until, sent_at + order.lease);
  record_.ranks_until = std::max(record_.ranks_until, sent_at + record_.fence);
  let_ranks_live(record_.ranks_until);
  // What the next agent process would not know must not count as proof that this lease lives.
  if (keeper_.save(record_).is_ok()) granted_sequence_ = order.report_sequence;
  vote_.stop();
  watch_lease();
}

void Agent::let_ranks_live(MonoTime until) {
  if (until <= ranks_until_) return;
  ranks_until_ = until;
  host_.extend_leases(until);
}

void Agent::on(const NamePeers& order) {
  if (order.version < record_.peers.version || order == record_.peers) return;
  AgentRecord next = record_;
  next.peers = order;
  // Going by a list that the next agent process would not know is no harm, saying so would be one.
  if (!keeper_.save(next).is_ok()) return;
  record_ = std::move(next);
  peers_.prepare(record_.peers.peers);
  report_soon();
}

LeaseAnswer Agent::lease_answer() const {
  if (record_.lease_until == MonoTime{}) return LeaseAnswer::unknown;
  return loop_.now() < record_.lease_until ? LeaseAnswer::alive : LeaseAnswer::dead;
}

bool Agent::has_live_ranks() const {
  return std::ranges::any_of(
      ranks_, [](const auto& each) { return each.second.phase != RankPhase::exited; });
}

// Wakes up when the lease ends, and then each second: to ask, as long as there is something to ask
// for.
void Agent::watch_lease() {
  lease_timer_.cancel();
  const MonoTime now = loop_.now();
  const bool is_dead = now >= record_.lease_until;
  if (is_dead && has_live_ranks() && record_.fence > Duration(0)) {
    vote_.ask(record_.peers.peers);
  } else {
    vote_.stop();
  }
  if (is_dead && !has_live_ranks()) return;  // no launch without a new grant
  lease_timer_.arm(is_dead ? PeerVote::kRoundTime : record_.lease_until - now,
                   [this] { watch_lease(); });
}

void Agent::on(const RunHook& order) {
  if (order.id == hook_begun_ || health_ == nullptr) return;
  hook_begun_ = order.id;
  hook_.reset();
  health_->run_hook(order, scope_.bind([this](HookResult result) {
    if (result.id != hook_begun_) return;
    hook_ = std::move(result);
    report_soon();
  }));
}

void Agent::on(const ClearFault& order) {
  if (health_ != nullptr) health_->clear(order);
}

void Agent::on(const RefuseAgent&) {
  send_facts_ = true;  // The link drops the stream and tries again later.
}

void Agent::rank_changed(const RankStatus& told) {
  auto it = ranks_.find(told.key);
  if (it == ranks_.end() || looked_at_.contains(told.key)) return;
  RankStatus status = told;
  status.proof = it->second.proof;
  if (it->second == status) return;
  if (!is_worth_a_look(it->second, status)) return take_rank(status);
  looked_at_.insert(status.key);
  health_->look(scope_.bind([this, status] {
    looked_at_.erase(status.key);
    take_rank(status);
  }));
}

// A program that fails may have failed by its machine: what that shows now goes out with the news.
bool Agent::is_worth_a_look(const RankStatus& before, const RankStatus& status) const {
  return health_ != nullptr && before.phase != RankPhase::exited &&
         status.phase == RankPhase::exited && status.cause == ExitCause::program &&
         status.exit_code != 0;
}

void Agent::take_rank(const RankStatus& status) {
  auto it = ranks_.find(status.key);
  if (it == ranks_.end()) return;
  it->second = status;
  const bool is_start = status.phase == RankPhase::running && start_report_timer_.is_armed();
  is_start ? report_within(kStartPause) : report_soon();
}

// Changes of one moment share a report.
void Agent::report_soon() {
  if (report_posted_ || !is_connected_) return;
  report_posted_ = true;
  loop_.post(scope_.bind([this] {
    report_posted_ = false;
    report_now();
  }));
}

// At full size a start is mostly messages: one is spared where programs start at once, another
// where they end at once, and ranks of one moment share them.
void Agent::report_within(Duration pause) {
  const MonoTime at = loop_.now() + pause;
  if (report_posted_ || (start_report_timer_.is_armed() && start_report_at_ <= at)) return;
  start_report_at_ = at;
  start_report_timer_.arm(pause, [this] { report_now(); });
}

void Agent::report_now(bool is_heartbeat) {
  start_report_timer_.cancel();
  if (!is_connected_) return;
  AgentReport report{.node = facts_.name, .sequence = ++sequence_};
  report.granted_sequence = granted_sequence_;
  report.peers_version = record_.peers.version;
  report.seen = record_.seen;
  report.seen_proof = record_.seen_proof;
  const MonoTime now = loop_.now();
  report.is_news_only =
      !is_heartbeat && asked_at_ && now - *asked_at_ < heartbeat_ / kLeasesPerHeartbeat;
  if (!report.is_news_only) asked_at_ = now;
  if (std::exchange(send_facts_, false)) report.facts = facts_;
  if (send_checks_ && health_ != nullptr && health_->results() != nullptr) {
    report.checks = *health_->results();
    send_checks_ = false;
  }
  add_gpu_readings(report);
  report.hook = hook_;
  for (const auto& [key, status] : ranks_) report.ranks.push_back(status);
  sent_at_.emplace(sequence_, now);
  if (sent_at_.size() > kUnansweredMax) sent_at_.erase(sent_at_.begin());
  link_.send(report);
}

void Agent::add_gpu_readings(AgentReport& report) {
  if (health_ == nullptr) return;
  std::vector<GpuReading> readings = health_->gpu_readings();
  if (readings == gpu_readings_) return;
  gpu_readings_ = readings;
  report.gpu_readings = std::move(readings);
}

// At once: a server that expects a report each second would find a node suspect whose timer still
// runs for the five it began with.
void Agent::set_heartbeat(Duration heartbeat) {
  if (heartbeat == heartbeat_) return;
  heartbeat_ = heartbeat;
  arm_heartbeat();
}

void Agent::arm_heartbeat() {
  heartbeat_timer_.arm(heartbeat_, [this] {
    report_now(/*is_heartbeat=*/true);
    arm_heartbeat();
  });
}

}  // namespace hai
