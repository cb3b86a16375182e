#include "server/model/cluster_state.h"

#include <algorithm>
#include <ranges>

#include "common/check.h"

namespace hai {

ClusterState::ClusterState(StoredState stored)
    : epoch_(stored.epoch),
      last_seq_(stored.last_seq),
      last_job_(stored.last_job),
      last_incident_(stored.last_incident) {
  for (Incident& incident : stored.incidents) incidents_.load(incident.id, std::move(incident));
  for (User& user : stored.users) users_.load(user.name, user);
  for (Quota& quota : stored.quotas) {
    quotas_.load(QuotaKey{quota.owner, quota.group, quota.priority}, quota);
  }
  for (Token& token : stored.tokens) tokens_.load(token.hash, token);
  for (Secret& secret : stored.secrets) secrets_.load({secret.user, secret.name}, secret);
  for (NodeIdentity& identity : stored.identities) identities_.load(identity.node, identity);
  for (KnobSetting& knob : stored.knobs) knobs_.load(knob.name, knob);
  for (Node& node : stored.nodes) {
    if (!node.removed_at) {
      node_names_.emplace(node.facts.name, node.id);
      node_census_.add(node.facts);
    }
    note_node_size(node);
    nodes_.load(node.id, std::move(node));
  }
  for (Job& loaded : stored.jobs) {
    const Job& job = jobs_.load(loaded.id, std::move(loaded));
    index(job);
    if (job.has_live_attempt()) occupy(job);
    if (job.reservation) hold(job);
  }
  for (AnsweredRequest& request : stored.requests) {
    requests_.emplace(std::pair{std::move(request.user), std::move(request.request_id)},
                      request.job);
  }
  changes_ = {.everything = true};
}

void ClusterState::apply(const Event& event) {
  CHECK(event.seq == last_seq_ + 1);
  last_seq_ = event.seq;
  std::visit([&](const auto& body) { on(body, event); }, event.body);
}

void ClusterState::evict_finished(size_t keep) {
  while (finished_.size() > keep) {
    JobId oldest = finished_.begin()->second;
    finished_.erase(finished_.begin());
    const Job& gone = *find(oldest);
    if (!gone.request_id.empty()) requests_.erase({gone.user, gone.request_id});
    if (gone.array_task) tasks_.erase(*gone.array_task);
    const auto rerun = reruns_.find(gone.rerun_of);
    if (rerun != reruns_.end() && rerun->second == oldest) reruns_.erase(rerun);
    jobs_.forget(oldest);
  }
}

size_t ClusterState::present_nodes() const {
  return static_cast<size_t>(
      std::ranges::count_if(nodes(), [](const auto& entry) { return !entry.second.removed_at; }));
}

const Job* ClusterState::find(JobId id) const { return jobs_.find(id); }

const Job* ClusterState::find_unfinished(const std::string& user, const std::string& name) const {
  auto it = unfinished_names_.lower_bound({user, name, JobId{}});
  if (it == unfinished_names_.end()) return nullptr;
  const auto& [of_user, of_name, id] = *it;
  return of_user == user && of_name == name ? find(id) : nullptr;
}

const Job* ClusterState::find_task(const ArrayTask& task) const {
  const auto it = tasks_.find(task);
  return it == tasks_.end() ? nullptr : find(it->second);
}

JobId ClusterState::newest_rerun_of(JobId id) const {
  for (auto it = reruns_.find(id); it != reruns_.end(); it = reruns_.find(id)) id = it->second;
  return id;
}

ClusterState::WaitingTasks ClusterState::waiting_tasks(JobId array) const {
  const auto it = waiting_tasks_.find(array);
  return it == waiting_tasks_.end() ? WaitingTasks{} : it->second;
}

std::vector<JobId> ClusterState::unfinished_tasks(JobId array) const {
  std::vector<JobId> jobs;
  for (auto it = tasks_.lower_bound({array, 0}); it != tasks_.end(); ++it) {
    if (it->first.array != array) break;
    if (!find(it->second)->is_terminal()) jobs.push_back(it->second);
  }
  return jobs;
}

std::vector<JobId> ClusterState::all_unfinished(const std::string& user,
                                                const std::string& name) const {
  std::vector<JobId> jobs;
  for (auto it = unfinished_names_.lower_bound({user, name, JobId{}});
       it != unfinished_names_.end(); ++it) {
    const auto& [of_user, of_name, id] = *it;
    if (of_user != user || of_name != name) break;
    jobs.push_back(id);
  }
  return jobs;
}

std::optional<JobId> ClusterState::find_request(const std::string& user,
                                                const std::string& request_id) const {
  auto it = requests_.find({user, request_id});
  return it == requests_.end() ? std::nullopt : std::optional(it->second);
}

const Node* ClusterState::find(NodeId id) const { return nodes_.find(id); }

const Node* ClusterState::find_node(const std::string& name) const {
  auto it = node_names_.find(name);
  return it == node_names_.end() ? nullptr : find(it->second);
}

const User* ClusterState::find_user(const std::string& name) const { return users_.find(name); }

const Token* ClusterState::find_token(const std::string& hash) const { return tokens_.find(hash); }

const Secret* ClusterState::find_secret(const std::string& user, const std::string& name) const {
  return secrets_.find({user, name});
}

const NodeIdentity* ClusterState::find_identity(const std::string& node) const {
  return identities_.find(node);
}

int64_t ClusterState::unfinished_count(const std::string& user) const {
  auto it = unfinished_counts_.find(user);
  return it == unfinished_counts_.end() ? 0 : it->second;
}

const Incident* ClusterState::open_incident(std::string_view kind) const {
  for (const auto& [id, incident] : incidents_.all()) {
    if (incident.kind == kind) return &incident;
  }
  return nullptr;
}

int64_t ClusterState::moves_since(UnixTime since) const {
  int64_t moves = 0;
  for (const auto& [time, count] : moves_) {
    if (time >= since) moves += static_cast<int64_t>(count);
  }
  return moves;
}

std::optional<int64_t> ClusterState::quota_nodes(const User& user, const std::string& group,
                                                 Priority priority) const {
  // A row for group "*" stands for every group that has no row of its own.
  auto row = [&](const std::string& owner) -> std::optional<int64_t> {
    for (const std::string& candidate : {group, std::string("*")}) {
      if (const Quota* quota = quotas_.find({owner, candidate, priority})) return quota->nodes;
    }
    return std::nullopt;
  };
  if (auto own = row(user.name)) return own;
  std::optional<int64_t> best;
  for (const std::string& owner : user.groups) {
    if (auto nodes = row(owner)) best = std::max(best.value_or(0), *nodes);
  }
  return best ? best : row("public");
}

int64_t ClusterState::used_node_units(const std::string& user, const std::string& group,
                                      Priority priority) const {
  auto it = usage_.find({user, group, priority});
  return it == usage_.end() ? 0 : it->second;
}

int64_t ClusterState::node_units(int node_count, int gpus_per_node, int gpus_of_node) {
  if (gpus_per_node == kNoGpus) return 0;
  if (gpus_per_node == 0 || gpus_of_node == 0 || gpus_per_node >= gpus_of_node) {
    return kNodeUnit * node_count;
  }
  return kNodeUnit * node_count * gpus_per_node / gpus_of_node;
}

int64_t ClusterState::rank_units(const Attempt& attempt, const Rank& rank, int gpus_of_node) {
  if (attempt.exclusive) return kNodeUnit;
  if (rank.place.gpus.is_empty()) return 0;
  return node_units(1, rank.place.gpus.count(), gpus_of_node);
}

bool ClusterState::equals(const ClusterState& other) const {
  return epoch_ == other.epoch_ && last_seq_ == other.last_seq_ && last_job_ == other.last_job_ &&
         jobs_ == other.jobs_ && nodes_ == other.nodes_ && users_ == other.users_ &&
         quotas_ == other.quotas_ && tokens_ == other.tokens_ && secrets_ == other.secrets_ &&
         identities_ == other.identities_ && knobs_ == other.knobs_ &&
         incidents_ == other.incidents_ && last_incident_ == other.last_incident_ &&
         waiting_tasks_ == other.waiting_tasks_ &&
         std::ranges::equal(std::views::keys(unfinished_arrays_),
                            std::views::keys(other.unfinished_arrays_)) &&
         waiting_ == other.waiting_ && live_ == other.live_ && rank_counts_ == other.rank_counts_ &&
         reserved_ == other.reserved_ && usage_ == other.usage_;
}

Job& ClusterState::job(JobId id) {
  note_change(id);
  return jobs_.change(id);
}

// A state that nobody plans for must not gather changes for ever.
constexpr size_t kChangesMax = 1'000'000;

void ClusterState::note_change(JobId id) {
  if (changes_.everything) return;
  changes_.jobs.push_back(id);
  if (changes_.jobs.size() > kChangesMax) changes_ = {.everything = true};
}

void ClusterState::note_change(NodeId id) {
  if (changes_.everything) return;
  changes_.nodes.push_back(id);
  if (changes_.nodes.size() > kChangesMax) changes_ = {.everything = true};
}

void ClusterState::note_node_size(const Node& node) {
  if (node.removed_at) return;
  int& largest = largest_nodes_[node.facts.group];
  largest = std::max(largest, node.facts.gpus);
}

int ClusterState::gpus_of_largest_node(const std::string& group) const {
  auto it = largest_nodes_.find(group);
  return it == largest_nodes_.end() ? 0 : it->second;
}

Attempt& ClusterState::live_attempt(JobId id, int attempt) {
  Job& owner = job(id);
  CHECK(owner.has_live_attempt() && owner.attempt->number == attempt);
  return *owner.attempt;
}

Node& ClusterState::node(NodeId id) {
  note_change(id);
  return nodes_.change(id);
}

Node& ClusterState::derived_node(NodeId id) {
  note_change(id);
  return nodes_.derived(id);
}

// ---- what is durable ---------------------------------------------------------------------------

Touched ClusterState::take_touched() {
  Touched touched{.jobs = jobs_.take_touched(),
                  .replaced_attempts = std::exchange(replaced_attempts_, {}),
                  .nodes = nodes_.take_touched(),
                  .users = users_.take_touched(),
                  .quotas = quotas_.take_touched(),
                  .tokens = tokens_.take_touched(),
                  .secrets = secrets_.take_touched(),
                  .identities = identities_.take_touched(),
                  .knobs = knobs_.take_touched(),
                  .incidents = incidents_.take_touched(),
                  .closed_incidents = std::exchange(closed_incidents_, {})};
  for (const Incident& closed : touched.closed_incidents) touched.incidents.erase(closed.id);
  return touched;
}

void ClusterState::mark_durable() {
  if (durable_ && !has_undurable()) return;
  durable_ = {epoch_, last_seq_, last_job_, last_incident_};
  jobs_.mark_durable();
  nodes_.mark_durable();
  users_.mark_durable();
  quotas_.mark_durable();
  tokens_.mark_durable();
  secrets_.mark_durable();
  identities_.mark_durable();
  knobs_.mark_durable();
  incidents_.mark_durable();
}

StoredState ClusterState::take_durable() && {
  CHECK(durable_.has_value());
  StoredState stored{.epoch = durable_->epoch,
                     .last_seq = durable_->last_seq,
                     .last_job = durable_->last_job,
                     .jobs = jobs_.take_durable(),
                     .requests = {},
                     .nodes = nodes_.take_durable(),
                     .users = users_.take_durable(),
                     .quotas = quotas_.take_durable(),
                     .tokens = tokens_.take_durable(),
                     .secrets = secrets_.take_durable(),
                     .identities = identities_.take_durable(),
                     .knobs = knobs_.take_durable(),
                     .last_incident = durable_->last_incident,
                     .incidents = incidents_.take_durable()};
  for (Node& node : stored.nodes) {
    node.occupants.clear();  // derived from the jobs anew
    node.held.clear();
  }
  return stored;
}

// ---- derived indexes ---------------------------------------------------------------------------

void RankCounts::add_gone(ExitCause cause, int exit_code) {
  ++gone;
  left += cause == ExitCause::left;
  well += cause == ExitCause::program && exit_code == 0;
}

RankCounts count_ranks(const Attempt& attempt) {
  RankCounts counts;
  for (const Rank& rank : attempt.ranks) {
    counts.pending += rank.state == RankState::pending;
    if (is_gone(rank.state)) counts.add_gone(rank.cause, rank.exit_code);
  }
  return counts;
}

void ClusterState::index(const Job& job) {
  if (job.array_task) {
    tasks_.emplace(*job.array_task, job.id);
    if (job.is_waiting()) {
      WaitingTasks& waiting = waiting_tasks_[job.array_task->array];
      ++waiting.all;
      if (job.held) ++waiting.held;
    }
  }
  if (job.rerun_of) reruns_[job.rerun_of] = std::max(reruns_[job.rerun_of], job.id);
  if (job.is_array() && !job.is_terminal()) {
    unfinished_arrays_.emplace(job.id, ArrayRange::parse(job.spec->array).value());
  }
  if (job.is_terminal()) {
    finished_.insert({job.ended_at.value_or(UnixTime{}), job.id});
  } else {
    unfinished_names_.insert({job.user, job.spec->name, job.id});
    ++unfinished_counts_[job.user];
    if (job.has_live_attempt()) {
      live_.insert(job.id);
      rank_counts_[job.id] = count_ranks(*job.attempt);
    } else {
      waiting_.insert({-static_cast<int>(job.priority), job.id});
    }
    for (const Dependency& dependency : job.unmet_dependencies) {
      dependents_[dependency.job].insert(job.id);
    }
  }
  if (job.reservation) reserved_.insert(job.id);
  if (!job.request_id.empty()) requests_.emplace(std::pair{job.user, job.request_id}, job.id);
}

void ClusterState::unindex(const Job& job) {
  unfinished_arrays_.erase(job.id);
  if (job.array_task && job.is_waiting()) {
    const auto waiting = waiting_tasks_.find(job.array_task->array);
    if (job.held) --waiting->second.held;
    if (--waiting->second.all == 0) waiting_tasks_.erase(waiting);
  }
  finished_.erase({job.ended_at.value_or(UnixTime{}), job.id});
  if (!job.is_terminal()) {
    unfinished_names_.erase({job.user, job.spec->name, job.id});
    auto count = unfinished_counts_.find(job.user);
    if (--count->second == 0) unfinished_counts_.erase(count);
    live_.erase(job.id);
    rank_counts_.erase(job.id);
    waiting_.erase({-static_cast<int>(job.priority), job.id});
    for (const Dependency& dependency : job.unmet_dependencies) {
      auto it = dependents_.find(dependency.job);
      if (it == dependents_.end()) continue;
      it->second.erase(job.id);
      if (it->second.empty()) dependents_.erase(it);
    }
  }
  reserved_.erase(job.id);
}

void ClusterState::occupy(const Job& job) {
  for (size_t rank = 0; rank < job.attempt->ranks.size(); ++rank) {
    if (!job.attempt->ranks[rank].holds_place()) continue;
    const RankPlacement& place = job.attempt->ranks[rank].place;
    std::vector<Occupant>& occupants = derived_node(place.node).occupants;
    occupants.push_back({job.id, static_cast<int>(rank), place.gpus, host_ask(*job.spec)});
    std::ranges::sort(occupants, {}, &Occupant::job);
  }
  add_usage(job, +1);
}

void ClusterState::vacate(const Job& job) {
  for (const Rank& rank : job.attempt->holding_ranks()) vacate(job, rank);
  add_usage(job, -1);
}

void ClusterState::vacate(const Job& job, const Rank& rank) {
  std::erase_if(derived_node(rank.place.node).occupants,
                [&](const Occupant& o) { return o.job == job.id; });
}

void ClusterState::hold(const Job& job) {
  for (const RankPlacement& place : job.reservation->placement) {
    std::vector<Held>& held = derived_node(place.node).held;
    held.push_back({job.id, place.gpus, host_ask(*job.spec)});
    std::ranges::sort(held, {}, &Held::job);
  }
}

void ClusterState::unhold(const Job& job) {
  for (const RankPlacement& place : job.reservation->placement) {
    std::erase_if(derived_node(place.node).held,
                  [&](const Held& held) { return held.job == job.id; });
  }
}

void ClusterState::add_usage(const Job& job, int sign) {
  int64_t units = 0;
  for (const Rank& rank : job.attempt->holding_ranks()) {
    units += rank_units(*job.attempt, rank, find(rank.place.node)->facts.gpus);
  }
  add_units(job, sign * units);
}

void ClusterState::add_units(const Job& job, int64_t units) {
  QuotaKey key{job.user, job.spec->group, job.attempt->priority};
  int64_t& used = usage_[key];
  used += units;
  if (used == 0) usage_.erase(key);
}

// What its user has had, with what the job has just been charged.
void ClusterState::note_usage(const Job& owner, int64_t gpu_seconds, int64_t user_gpu_seconds,
                              UnixTime now) {
  if (gpu_seconds > 0 && users_.contains(owner.user)) {
    users_.change(owner.user).usage = {user_gpu_seconds, now};
  }
}

}  // namespace hai
