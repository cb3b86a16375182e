#include "sim/checkers.h"

#include <fmt/core.h>

#include <algorithm>

#include "server/control/nodes/decide_mass_loss.h"
#include "server/model/invariants.h"
#include "server/plan/order.h"

namespace hai {

void Checkers::process_started(const std::string& node, const LaunchRank& order,
                               Duration lease_left) {
  ++processes_started_;
  if (lease_left <= Duration{0})
    fail(fmt::format("fence: {} starts on {} after its lease", to_string(order.key), node));
  for (const auto& [key, live] : live_) {
    if (live.node == node && !(live.gpus & order.gpus).is_empty()) {
      fail(fmt::format("capacity: {} starts on {} gpus {} while {} is on them",
                       to_string(order.key), node, to_string(live.gpus & order.gpus),
                       to_string(key)));
    }
    if (key.job == order.key.job && key.attempt != order.key.attempt) {
      fail(fmt::format("single run: {} starts on {} while {} is alive on {}", to_string(order.key),
                       node, to_string(key), live.node));
    }
  }
  if (live_.contains(order.key))
    fail(fmt::format("single run: {} starts twice", to_string(order.key)));
  live_[order.key] = {node, order.gpus};
}

void Checkers::process_ended(const std::string& node, const RankStatus& status) {
  live_.erase(status.key);
  if (status.cause != ExitCause::fenced) return;
  ++processes_fenced_;
  if (!judge_fenced) return;
  if (auto why = judge_fenced(node))
    fail(fmt::format("needless kill: {} on {}: {}", to_string(status.key), node, *why));
}

void Checkers::check_state(const std::vector<Event>& events, const ClusterState& state) {
  if (++states_checked_ % check_every == 0) {
    for (const std::string& violated : violated_invariants(state)) fail("invariant: " + violated);
    check_crossings(state);
    check_released(state);
  }
  if (std::ranges::count_if(state.incidents(),
                            [](const auto& each) { return each.second.kind == kMassLoss; }) > 1) {
    fail("incident: two of mass loss are open");
  }
  for (const Event& event : events) {
    check_down(state, event);
    check_kept(state, event);
    const auto* placed = std::get_if<AttemptPlaced>(&event.body);
    const Job* job = placed == nullptr ? nullptr : state.find(placed->job);
    if (job == nullptr || !job->has_live_attempt()) continue;
    for (const RankPlacement& place : placed->placement) {
      const NodeFacts& facts = state.find(place.node)->facts;
      if (job->spec->node_filter.takes(facts)) continue;
      fail(fmt::format("node filter: job {} is placed on {}", job->id.value, facts.name));
    }
    if (job->spec->is_validation) continue;  // the platform's own: no account, no quota
    if (state.find_user(job->user) == nullptr) {
      fail(fmt::format("account: job {} of nobody is placed", job->id.value));
      continue;
    }
    const User& user = *state.find_user(job->user);
    int64_t nodes = state.quota_nodes(user, job->spec->group, placed->priority).value_or(0);
    int64_t used = state.used_node_units(job->user, job->spec->group, placed->priority);
    if (used > nodes * ClusterState::kNodeUnit) {
      fail(fmt::format("quota: job {} of {} placed at {}: {} units used, {} nodes allowed",
                       job->id.value, job->user, to_string(placed->priority), used, nodes));
    }
  }
}

void Checkers::check_down(const ClusterState& state, const Event& event) {
  const auto* changed = std::get_if<NodeLivenessChanged>(&event.body);
  if (changed == nullptr || changed->liveness != Liveness::down) return;
  const std::string& name = state.find(changed->node)->facts.name;
  for (const auto& [key, live] : live_) {
    if (live.node == name)
      fail(fmt::format("fence: {} is given up while {} is alive on it", name, to_string(key)));
  }
}

void Checkers::check_released(const ClusterState& state) {
  for (JobId id : state.live()) {
    const Job& job = *state.find(id);
    if (!job.spec->releases_early || job.attempt->end) continue;
    for (const Rank& rank : job.attempt->ranks) {
      const bool is_done = rank.cause == ExitCause::program && rank.exit_code == 0;
      if (rank.state != RankState::exited || !is_done) continue;
      fail(fmt::format("early release: job {} keeps the place of a rank that has ended", id.value));
    }
  }
}

void Checkers::check_kept(const ClusterState& state, const Event& event) {
  const auto* leaving = std::get_if<AttemptSuspending>(&event.body);
  if (leaving == nullptr || !leaving->beneficiary) return;
  const Job* job = state.find(leaving->job);
  if (job == nullptr || !job->spec->is_interactive || !job->spec->asks_gpus()) return;
  fail(fmt::format("interactive: job {} is told to leave for job {}", leaving->job.value,
                   leaving->beneficiary.value));
}

void Checkers::check_crossings(const ClusterState& state) {
  int crossing = 0;
  for (JobId id : state.live()) {
    const Job& job = *state.find(id);
    if (!job.spec->asks_gpus()) continue;  // what it sends over the network is not known, nor much
    int pairs = 0;
    const std::string* last = nullptr;
    for (const Rank& rank : job.attempt->holding_ranks()) {
      const std::string& zone = state.find(rank.place.node)->facts.zone;
      pairs += last != nullptr && *last != zone;
      last = &zone;
    }
    crossing += pairs > 0;
    if (pairs > 1) fail(fmt::format("cross-zone: job {} crosses at {} pairs", id.value, pairs));
  }
  if (crossing > 1) fail(fmt::format("cross-zone: {} jobs cross at once", crossing));
}

void Checkers::check_explained(const ClusterState& state, const SoftFacts& soft) {
  std::set<std::pair<JobId, int>> unexplained;
  for (const auto& [order, id] : state.waiting()) {
    const Job& job = *state.find(id);
    // A job that has run in between has only just begun to wait.
    const std::pair wait(id, job.attempt_number());
    const PendingReason reason = waiting_reason(state, job, soft);
    if (reason.code == PendingCode::not_considered) {
      if (unexplained_.contains(wait)) fail(fmt::format("explain: job {} has no reason", id.value));
      unexplained.insert(wait);
      continue;
    }
    // What the state alone can tell; a pass may be a moment old, so only what is wrong twice
    // counts.
    bool is_true = (reason.code != PendingCode::held || job.held) &&
                   (reason.code != PendingCode::dependency || !job.unmet_dependencies.empty()) &&
                   (reason.code != PendingCode::preempting || job.reservation);
    if (is_true) continue;
    if (unexplained_.contains(wait))
      fail(fmt::format("explain: job {} does not wait for {}", id.value, reason.text));
    unexplained.insert(wait);
  }
  unexplained_ = std::move(unexplained);
}

void Checkers::check_order(const AgentOrder& order, const MemDatabase& database) {
  const Epoch leading = database.epoch();
  // A store that has gone back may have forgotten a renewal, or an epoch; its leader finds out
  // within a lease.
  if (order.epoch != leading && !database.went_back()) {
    fail(fmt::format("fence: an order of epoch {} leaves while epoch {} leads", order.epoch.value,
                     leading.value));
  }
}

StoredState stored_state_of(const ClusterState& state) {
  StoredState stored{
      .epoch = state.epoch(), .last_seq = state.last_seq(), .last_job = state.last_job()};
  for (const auto& [id, job] : state.jobs()) {
    if (!job.is_terminal()) stored.jobs.push_back(job);
  }
  for (const auto& [id, node] : state.nodes()) {
    Node bare = node;
    bare.occupants.clear();
    bare.held.clear();
    stored.nodes.push_back(bare);
  }
  for (const auto& [name, user] : state.users()) stored.users.push_back(user);
  for (const auto& [key, quota] : state.quotas()) stored.quotas.push_back(quota);
  for (const auto& [hash, token] : state.tokens()) stored.tokens.push_back(token);
  for (const auto& [key, secret] : state.secrets()) stored.secrets.push_back(secret);
  for (const auto& [node, identity] : state.identities()) stored.identities.push_back(identity);
  for (const auto& [name, knob] : state.knobs()) stored.knobs.push_back(knob);
  stored.last_incident = state.last_incident();
  for (const auto& [id, incident] : state.incidents()) stored.incidents.push_back(incident);
  return stored;
}

namespace {

// What the log must show of suspensions: why each victim left, and that it was not for nothing.
class Purposes {
 public:
  explicit Purposes(const Knobs& knobs) : knobs_(knobs) {}
  void follow_knobs(const EventBody& body) {
    if (auto* started = std::get_if<EpochStarted>(&body)) {
      for (const auto& [name, value] : started->knobs) (void)set_knob(knobs_, name, value);
    } else if (auto* set = std::get_if<KnobSet>(&body)) {
      (void)set_knob(knobs_, set->setting.name, set->setting.value);
    } else if (auto* unset = std::get_if<KnobUnset>(&body)) {
      (void)set_knob(knobs_, unset->name, unset->value);
    }
  }
  // `before`: the state the event meets. Returns what is wrong with it, if anything.
  std::optional<std::string> see(const ClusterState& before, const Event& event) {
    if (auto* suspending = std::get_if<AttemptSuspending>(&event.body);
        suspending != nullptr && suspending->beneficiary) {
      open_[suspending->job] = suspending->beneficiary;
      return judge(before, *before.find(suspending->job), *before.find(suspending->beneficiary),
                   event.time);
    }
    if (auto* continued = std::get_if<AttemptContinued>(&event.body)) open_.erase(continued->job);
    bool settles = std::holds_alternative<AttemptPlaced>(event.body) ||
                   std::holds_alternative<JobFinished>(event.body) ||
                   std::holds_alternative<ReservationDropped>(event.body);
    if (settles)
      std::erase_if(open_, [&](const auto& entry) { return entry.second == job_of(event.body); });
    return std::nullopt;
  }
  const std::map<JobId, JobId>& open() const { return open_; }

 private:
  // Lower level; or the same, if the order may interrupt it: a jumper of the beneficiary, or
  // another user's job whose quantum is over.
  bool is_legal(const Job& victim, const Job& beneficiary, UnixTime now) const {
    const Attempt& attempt = *victim.attempt;
    if (!victim.spec->asks_gpus()) return beneficiary.spec->asks_gpus();
    if (beneficiary.reservation->is_move) return attempt.ranks.size() == 1;
    const Priority level = order_level(knobs_, victim, attempt.priority, now);
    if (level != beneficiary.reservation->priority) {
      return level < beneficiary.reservation->priority;
    }
    if (attempt.jumper && attempt.placed_at > waiting_since(beneficiary)) return true;
    return knobs_.policy == Policy::feedback && victim.user != beneficiary.user &&
           attempt.running_at && now - *attempt.running_at >= quantum_of(knobs_, victim);
  }

  static bool asks_for_host(const JobSpec& spec) {
    return !spec.asks_gpus() || spec.cpus_per_node > 0 || spec.memory_per_node_bytes > 0;
  }

  std::optional<std::string> judge(const ClusterState& before, const Job& victim,
                                   const Job& beneficiary, UnixTime now) const {
    if (!beneficiary.reservation)
      return fmt::format("job {} holds nothing that job {} could leave to it", beneficiary.id.value,
                         victim.id.value);
    if (!is_legal(victim, beneficiary, now))
      return fmt::format("job {} is no legal victim of job {}", victim.id.value,
                         beneficiary.id.value);
    for (const Rank& rank : victim.attempt->holding_ranks()) {
      for (const RankPlacement& place : beneficiary.reservation->placement) {
        if (place.node != rank.place.node) continue;
        if (!(place.gpus & rank.place.gpus).is_empty()) return std::nullopt;
        // CPUs and memory of his may be what is short; the property tests tell whether they are.
        if (asks_for_host(*beneficiary.spec)) return std::nullopt;
        const Node& node = *before.find(place.node);
        const auto takes_host = [&](const auto& each) {
          return asks_for_host(*before.find(each.job)->spec);
        };
        if (std::ranges::any_of(node.occupants, takes_host)) return std::nullopt;
        if (std::ranges::any_of(node.held, takes_host)) return std::nullopt;
      }
    }
    return fmt::format("job {} is not in the way of job {}", victim.id.value, beneficiary.id.value);
  }

  Knobs knobs_;
  std::map<JobId, JobId> open_;  // victim → beneficiary, until that starts, ends or gives up
};

// A task that waits for its counterparts starts only after all of them have succeeded.
class Counterparts {
 public:
  // `before`: the state that the event meets.
  std::optional<std::string> see(const ClusterState& before, const Event& event) {
    if (const auto* submitted = std::get_if<JobSubmitted>(&event.body)) {
      for (const Dependency& each : submitted->dependencies) {
        if (each.condition == DependencyCondition::aftercorr) {
          awaited_[submitted->job].push_back(each.job);
        }
      }
      return std::nullopt;
    }
    if (const auto* finished = std::get_if<JobFinished>(&event.body)) {
      const Job& job = *before.find(finished->job);
      if (job.array_task && finished->state == JobState::succeeded) done_.insert(*job.array_task);
      return std::nullopt;
    }
    const auto* placed = std::get_if<AttemptPlaced>(&event.body);
    const Job* job = placed == nullptr ? nullptr : before.find(placed->job);
    if (job == nullptr || !job->array_task) return std::nullopt;
    const auto arrays = awaited_.find(job->array_task->array);
    if (arrays == awaited_.end()) return std::nullopt;
    for (JobId array : arrays->second) {
      if (done_.contains({array, job->array_task->index})) continue;
      return fmt::format("job {} starts before task {} of array {} has succeeded", job->id.value,
                         job->array_task->index, array.value);
    }
    return std::nullopt;
  }

 private:
  std::map<JobId, std::vector<JobId>> awaited_;  // of each array
  std::set<ArrayTask> done_;
};

// No more tasks of an array have attempts than its limit lets run.
std::optional<std::string> check_array_limit(const ClusterState& before, const Event& event) {
  const auto* placed = std::get_if<AttemptPlaced>(&event.body);
  const Job* job = placed == nullptr ? nullptr : before.find(placed->job);
  if (job == nullptr || !job->array_task) return std::nullopt;
  const JobId array = job->array_task->array;
  const int limit = before.unfinished_arrays().at(array).limit();
  const auto live = std::ranges::count_if(before.live(), [&](JobId id) {
    const auto& task = before.find(id)->array_task;
    return task && task->array == array;
  });
  if (limit == 0 || live < limit) return std::nullopt;
  return fmt::format("job {} is one more than the {} of array {} that may run", job->id.value,
                     limit, array.value);
}

bool whole_gang_has_run(const Job& job) {
  return std::ranges::none_of(job.attempt->ranks,
                              [](const Rank& rank) { return rank.state == RankState::pending; });
}

// A rank was killed by an order of the server whose attempt, as the event meets it, is to go on.
bool is_needless_kill(const ClusterState& before, const Event& event) {
  const auto* ended = std::get_if<RankEnded>(&event.body);
  if (ended == nullptr || ended->cause != ExitCause::killed) return false;
  const Attempt& attempt = *before.find(ended->job)->attempt;
  return !attempt.end && attempt.state != AttemptState::suspending;
}

}  // namespace

void Checkers::check_log(const MemDatabase& database, const Knobs& knobs) {
  ClusterState replayed;
  Epoch epoch;
  Purposes purposes(knobs);
  Counterparts counterparts;
  for (const Event& event : database.events()) {
    if (auto* started = std::get_if<EpochStarted>(&event.body)) {
      if (started->epoch <= epoch)
        fail(fmt::format("fence: epoch {} begins after {}", started->epoch.value, epoch.value));
      epoch = started->epoch;
    } else if (!epoch) {
      fail("fence: an event before the first epoch");
    }
    if (std::holds_alternative<AttemptRunning>(event.body) &&
        !whole_gang_has_run(*replayed.find(job_of(event.body)))) {
      fail(fmt::format("gang: job {} runs in part", job_of(event.body).value));
    }
    const Job* placed = std::holds_alternative<AttemptPlaced>(event.body)
                            ? replayed.find(job_of(event.body))
                            : nullptr;
    if (placed != nullptr && placed->stop_requested)
      fail(fmt::format("stop: job {} runs again though its stop was answered", placed->id.value));
    purposes.follow_knobs(event.body);
    if (auto wrong = purposes.see(replayed, event)) fail("purpose: " + *wrong);
    if (auto wrong = counterparts.see(replayed, event)) fail("aftercorr: " + *wrong);
    if (auto wrong = check_array_limit(replayed, event)) fail("array limit: " + *wrong);
    // A leader of a store that has gone back kills what it does not know.
    if (!database.went_back() && is_needless_kill(replayed, event))
      fail(fmt::format("needless kill: job {} was neither to leave nor to end",
                       job_of(event.body).value));
    replayed.apply(event);
  }
  for (const auto& [victim, beneficiary] : purposes.open()) {
    const Job* job = replayed.find(beneficiary);
    if (job == nullptr || !job->reservation) {
      fail(fmt::format("purpose: job {} was to leave for job {}, which never started nor gave up",
                       victim.value, beneficiary.value));
    }
  }
  std::map<std::pair<std::string, std::string>, JobId> requests;
  for (const auto& [id, job] : database.jobs()) {
    const Job* other = replayed.find(id);
    if (other == nullptr || !(*other == job))
      fail(fmt::format("ledger: row of job {} differs from its events", id.value));
    if (job.request_id.empty()) continue;
    auto [first, is_new] = requests.emplace(std::pair{job.user, job.request_id}, id);
    if (!is_new) {
      fail(fmt::format("once: request {} made jobs {} and {}", job.request_id, first->second.value,
                       id.value));
    }
  }
  ClusterState rows(database.stored_state());
  ClusterState bare(stored_state_of(replayed));
  if (!rows.equals(bare)) fail("ledger: rows and replayed events differ");
}

void Checkers::check_live(const ClusterState& live, const MemDatabase& database) {
  ClusterState rows(database.stored_state());
  ClusterState bare(stored_state_of(live));
  if (!rows.equals(bare)) fail("ledger: live state and stored rows differ");
}

}  // namespace hai
