#include "tests/support/random_cluster.h"

#include <algorithm>

#include "server/control/engine/append_batch.h"

namespace hai::test {

namespace {

constexpr TokenKind kTokenKinds[] = {TokenKind::api, TokenKind::session, TokenKind::join};
constexpr TokenScope kTokenScopes[] = {TokenScope::read, TokenScope::submit, TokenScope::operate,
                                       TokenScope::admin};

}  // namespace

RandomCluster::RandomCluster(uint64_t seed, RandomClusterOptions options)
    : rng_(seed), options_(options) {}

RandomCluster::RandomCluster(uint64_t seed, ClusterState state, RandomClusterOptions options)
    : rng_(seed), options_(options), state_(std::move(state)) {
  now_ += state_.last_seq() * 1'000;
  names_ = state_.last_job().value + 1'000'000;
}

std::string RandomCluster::text() {
  static const std::vector<std::string> kPieces{"",
                                                "a",
                                                "plain words",
                                                "it's",
                                                "say \"hi\"",
                                                "back\\slash",
                                                "{a,b}",
                                                "NULL",
                                                "null",
                                                "\n\t\r",
                                                "\x01\x1f\x7f",
                                                "'; DROP TABLE job; --",
                                                "$1",
                                                "\\N",
                                                "ü",
                                                "日本",
                                                "🚀",
                                                "%s",
                                                "\\x41",
                                                ","};
  std::string out;
  for (auto pieces = rng_.below(4); pieces > 0; --pieces) {
    out += options_.odd_text ? rng_.pick(kPieces) : kPieces[rng_.below(3)];
  }
  return out;
}

std::string RandomCluster::name(const char* prefix, int count) {
  return prefix + std::to_string(rng_.below(static_cast<uint64_t>(count)));
}

// In one order with all compilers: a seed is one history.
std::string RandomCluster::odd_name(const char* prefix, int count) {
  const std::string odd = text();
  return name(prefix, count) + odd;
}

void RandomCluster::emit(EventBody body) {
  now_ += rng_.between(1, 5'000'000);
  Event event{state_.last_seq() + 1, time(), rng_.chance(0.5) ? "scheduler" : text(),
              std::move(body)};
  state_.apply(event);
  events_.push_back(std::move(event));
}

AppendBatch RandomCluster::take_batch(Epoch epoch) {
  AppendBatch batch = rows_to_append(state_, state_.take_touched());
  batch.epoch = epoch;
  batch.events = std::exchange(events_, {});
  return batch;
}

AppendBatch RandomCluster::start_epoch(Epoch epoch) {
  emit(EpochStarted{epoch, {{"policy", "fifo"}, {"min_quantum", "5m"}}});
  return take_batch(epoch);
}

AppendBatch RandomCluster::next_batch(Epoch epoch, int events) {
  // Some draws are impossible now and give no event.
  for (int tries = 0; static_cast<int>(events_.size()) < events && tries < events * 100; ++tries) {
    step();
  }
  return take_batch(epoch);
}

AppendBatch RandomCluster::submit_jobs(Epoch epoch, int count) {
  for (int i = 0; i < count; ++i) submit();
  return take_batch(epoch);
}

void RandomCluster::step() {
  const double draw = rng_.unit();
  if (draw < 0.05) return change_people();
  if (draw < 0.06) return change_incidents();
  if (draw < 0.10 || static_cast<int>(state_.nodes().size()) < options_.nodes) {
    return change_nodes();
  }
  const auto& jobs = state_.jobs();
  if (draw < 0.15 || jobs.empty()) return submit();
  // Mostly the newest, so that some live long and others end soon.
  const int64_t last = state_.last_job().value;
  const JobId id{std::max<int64_t>(1, rng_.between(std::max<int64_t>(1, last - 8), last))};
  const Job* job = state_.find(id);
  if (job != nullptr && !job->is_terminal()) change_job(*job);
}

void RandomCluster::change_people() {
  switch (rng_.below(13)) {
    case 9:
      for (const auto& [user, row] : state_.users()) {
        if (state_.unfinished_count(user) == 0) return emit(UserRemoved{std::string(user)});
      }
      return;
    case 10:
      return emit(KnobSet{{.name = name("knob", 5),
                           .value = text(),
                           .by = name("user", 5),
                           .reason = text(),
                           .set_at = time()}});
    case 11:
      if (state_.knobs().empty()) return;
      return emit(KnobUnset{state_.knobs().begin()->first, text(), text()});
    case 0:
    case 1: {
      std::vector<std::string> groups;
      for (auto count = rng_.below(3); count > 0; --count) groups.push_back(odd_name("team", 3));
      return emit(UserSet{{.name = name("user", 5),
                           .role = one_of({Role::user, Role::operator_, Role::admin}),
                           .active = rng_.chance(0.9),
                           .groups = groups}});
    }
    case 2:
      return emit(QuotaSet{{.owner = name("user", 5),
                            .group = "training",
                            .priority = rng_.pick(kPriorities),
                            .nodes = rng_.between(0, 100)}});
    case 3:
      if (state_.quotas().empty()) return;
      return emit(QuotaRemoved{state_.quotas().begin()->second});
    case 4:
      return emit(TokenSet{{.hash = name("hash", 100),
                            .user = name("user", 5),
                            .label = text(),
                            .created_at = time(),
                            .kind = rng_.pick(kTokenKinds),
                            .scope = rng_.pick(kTokenScopes),
                            .expires_at = maybe_time(),
                            .last_used_at = maybe_time(),
                            .nodes = text(),
                            .uses_left = static_cast<int>(rng_.between(0, 9))}});
    case 5:
      if (state_.tokens().empty()) return;
      return emit(TokensUsed{{{state_.tokens().begin()->first, time()}}});
    case 6:
      return emit(SecretSet{{.user = name("user", 5),
                             .name = name("secret", 5),
                             .sealed = text(),
                             .set_at = time(),
                             .version = static_cast<int>(rng_.between(1, 9))}});
    case 7: {
      if (state_.secrets().empty()) return;
      const Secret& secret = state_.secrets().begin()->second;
      return emit(SecretRemoved{secret.user, secret.name});
    }
    case 8:
      return emit(NodeIdentitySet{{.node = name("node", 9),
                                   .serial = text(),
                                   .issued_at = time(),
                                   .expires_at = time(),
                                   .revoked_at = maybe_time(),
                                   .joined_with = text()},
                                  text()});
    default:
      if (state_.tokens().empty()) return;
      return emit(TokenRevoked{state_.tokens().begin()->first});
  }
}

std::vector<NodeId> RandomCluster::some_nodes() {
  std::vector<NodeId> nodes;
  for (const auto& [id, node] : state_.nodes()) {
    if (rng_.chance(0.5)) nodes.push_back(id);
  }
  return nodes;
}

void RandomCluster::change_incidents() {
  if (state_.incidents().empty() || rng_.chance(0.3)) {
    return emit(IncidentOpened{IncidentId{state_.last_incident().value + 1}, "mass_loss",
                               name("leaf/leaf", 4), text(), some_nodes()});
  }
  const IncidentId incident = state_.incidents().begin()->first;
  if (rng_.chance(0.5)) return emit(IncidentChanged{incident, text(), some_nodes()});
  if (rng_.chance(0.5)) return emit(IncidentNoted{incident, text()});
  emit(IncidentClosed{incident, text()});
}

JobSpec RandomCluster::random_spec() {
  JobSpec spec;
  spec.name = "job-" + std::to_string(++names_) + text();
  spec.priority = rng_.chance(0.2) ? Priority::automatic : rng_.pick(kPriorities);
  spec.workspace = "/data/" + text();
  spec.entrypoint = "train.py";
  spec.parameters = text();
  for (auto count = rng_.below(3); count > 0; --count) spec.environments[name("KEY", 9)] = text();
  if (rng_.chance(0.2)) spec.secrets[name("SECRET", 9)] = name("secret", 5);
  spec.zone = rng_.chance(0.2) ? "zone1" : "";
  spec.node_count = static_cast<int>(rng_.between(1, options_.nodes));
  spec.gpus_per_node = one_of({0, 0, 1, 2, 4});
  spec.cpus_per_node = static_cast<int>(rng_.below(64));
  spec.memory_per_node_bytes = rng_.between(0, int64_t{1} << 39);
  spec.image = text();
  spec.launch = one_of({LaunchMode::per_node, LaunchMode::per_gpu});
  spec.env_style = one_of({EnvStyle::hai, EnvStyle::torch, EnvStyle::slurm});
  spec.suspend = {.grace = Duration(rng_.between(0, 1'000'000'000)), .signal = "SIGUSR1"};
  spec.restart = {.on_failure = rng_.chance(0.5), .max = static_cast<int>(rng_.below(10))};
  spec.timeout = Duration(rng_.between(0, 1'000'000'000));
  spec.max_leaves = static_cast<int>(rng_.below(4));
  spec.cross_zone = one_of({CrossZone::allow, CrossZone::never});
  spec.is_interactive = spec.max_leaves == 3;  // not drawn: seeds keep their histories
  for (auto count = rng_.below(3); count > 0; --count) spec.tags.push_back(odd_name("tag", 5));
  if (rng_.chance(0.2)) spec.begin_at = time();
  if (rng_.chance(0.04)) spec.array = "0-99999%9";
  if (rng_.chance(0.2)) {
    spec.node_filter = {.gpu_type = text(), .labels = {text()}, .nodes = "n[1-9]", .exclude = "n3"};
  }
  return spec;
}

void RandomCluster::submit() {
  std::vector<Dependency> dependencies;
  std::optional<JobId> rerun_of;
  const int64_t last = state_.last_job().value;
  if (last > 0 && rng_.chance(0.2)) {
    const JobId dependency{rng_.between(1, last)};
    const Job* job = state_.find(dependency);
    const auto condition = one_of({DependencyCondition::afterok, DependencyCondition::afterany,
                                   DependencyCondition::afternotok, DependencyCondition::after});
    if (job != nullptr && !job->is_terminal()) dependencies.push_back({dependency, condition});
    if (job != nullptr && job->is_terminal()) rerun_of = dependency;
  }
  const std::string request = rng_.chance(0.5) ? "request-" + std::to_string(names_) : "";
  emit(JobSubmitted{JobId{last + 1}, name("user", 5), request,
                    std::make_shared<const JobSpec>(random_spec()), std::move(dependencies),
                    rerun_of});
}

void RandomCluster::change_job(const Job& job) {
  switch (rng_.below(16)) {
    case 4:
      return emit(JobRankChanged{job.id, rng_.between(-5, 1'000)});
    case 5:
      return emit(AttemptsSkipped{job.id, static_cast<int>(rng_.between(1, 9))});
    case 0:
      return emit(JobHeld{job.id, text()});
    case 1:
      return emit(JobReleased{job.id});
    case 2:
      if (!job.uses_sdk && rng_.chance(0.3)) return emit(JobUsesSdk{job.id});
      return emit(JobPriorityChanged{job.id, rng_.pick(kPriorities)});
    case 3:
      return emit(JobStopRequested{job.id, text()});
    case 6: {
      JobEdited edited{.job = job.id, .timeout = Duration(rng_.between(0, 1'000'000'000))};
      if (rng_.chance(0.5)) edited.tags = {text(), name("tag", 5)};
      if (job.is_array()) edited.array_limit = static_cast<int>(rng_.below(5));
      if (job.is_waiting()) edited.begin_at = rng_.chance(0.5) ? time() : UnixTime{};
      return emit(std::move(edited));
    }
    default:
      return job.has_live_attempt() ? change_live(job) : change_waiting(job);
  }
}

Placement RandomCluster::random_placement(const Job& job) {
  Placement placement;
  for (const auto& [id, node] : state_.nodes()) {
    if (static_cast<int>(placement.size()) == job.spec->node_count) break;
    if (node.removed_at) continue;
    const GpuSet free = node.free_gpus(job.id);
    const int wanted = job.spec->gpus_per_node == 0 ? node.facts.gpus : job.spec->gpus_per_node;
    GpuSet gpus;
    for (int i = 0; i < GpuSet::kMax && gpus.count() < wanted; ++i) {
      if (free.contains(i)) gpus.bits |= uint64_t{1} << i;
    }
    if (gpus.count() != wanted || !node.has_host_now(gpus, host_ask(*job.spec))) continue;
    placement.push_back({id, gpus});
  }
  if (static_cast<int>(placement.size()) < job.spec->node_count) placement.clear();
  return placement;
}

void RandomCluster::change_waiting(const Job& job) {
  if (job.is_array()) return change_array(job);
  const auto choice = rng_.below(12);
  if (choice == 0 && !job.reservation) {
    const JobState state = one_of({JobState::succeeded, JobState::failed, JobState::stopped});
    if (may_follow(job.state, state)) {
      emit(JobFinished{job.id, state, static_cast<int>(rng_.below(256)), text()});
    }
    return;
  }
  if (choice == 1 && job.attempt) {
    return emit(JobRequeued{job.id, rng_.chance(0.5), rng_.chance(0.2), text()});
  }
  if (choice == 2 && job.reservation) return emit(ReservationDropped{job.id, text()});
  Placement placement = random_placement(job);
  if (placement.empty()) return;
  const Priority priority = rng_.pick(kPriorities);
  if (choice < 5 && !job.reservation) {
    return emit(NodesReserved{
        job.id, {std::move(placement), priority, {JobId{1}}, time(), rng_.chance(0.2)}});
  }
  emit(AttemptPlaced{job.id, job.next_attempt(), std::move(placement), priority, 29'500,
                     job.spec->gpus_per_node == 0, rng_.chance(0.3)});
}

void RandomCluster::end_rank(const Job& job) {
  const Attempt& attempt = *job.attempt;
  for (size_t i = 0; i < attempt.ranks.size(); ++i) {
    if (is_gone(attempt.ranks[i].state)) continue;
    // Not drawn: the histories of the seeds stay as they were.
    std::optional<RankUsage> usage;
    if (i % 2 == 0) usage = {Duration(1'000'001 * (job.id.value + 1)), int64_t{4096} << i};
    RankEnded ended{job.id,
                    attempt.number,
                    static_cast<int>(i),
                    one_of({RankState::exited, RankState::lost}),
                    one_of({ExitCause::program, ExitCause::go_suspend, ExitCause::killed}),
                    static_cast<int>(rng_.below(256)),
                    text(),
                    usage};
    if (ended.state == RankState::exited && i + 1 < attempt.ranks.size()) {
      ended.state = RankState::released;
      ended.gpu_seconds = 1 + ended.exit_code;
      ended.user_gpu_seconds = 1'000 + ended.exit_code;
    }
    return emit(std::move(ended));
  }
  const AttemptState outcome = one_of(
      {AttemptState::suspended, AttemptState::succeeded, AttemptState::failed, AttemptState::lost});
  if (!may_follow(attempt.state, outcome)) return;
  std::vector<NodeId> avoid;
  if (rng_.chance(0.5)) avoid.push_back(attempt.ranks.front().place.node);
  emit(AttemptEnded{job.id, attempt.number, outcome, text(), rng_.between(0, 100'000),
                    std::move(avoid), rng_.between(0, 100'000), rng_.between(0, 10'000'000)});
}

void RandomCluster::change_live(const Job& job) {
  const Attempt& attempt = *job.attempt;
  const int number = attempt.number;
  switch (rng_.below(11)) {
    case 0:
      if (may_follow(attempt.state, AttemptState::suspending)) {
        emit(AttemptSuspending{job.id, number, time(), JobId{rng_.between(0, 3)}, text()});
      }
      return;
    case 1:
      if (attempt.state == AttemptState::suspending) {
        emit(AttemptContinued{job.id, number, text()});
      }
      return;
    case 2:
      return emit(AttemptEnding{job.id, number, {AttemptState::failed, 1, text(), true}});
    case 3:
      return emit(CheckpointReported{
          job.id, number, {rng_.between(0, 1 << 20), text(), rng_.unit() * 100, time()}});
    case 4:
      return emit(LifeStateSet{job.id, number, text()});
    case 5:
    case 6:
      return end_rank(job);
    case 8:
      if (attempt.state == AttemptState::placed) emit(AttemptStarting{job.id, number});
      return;
    default:
      break;
  }
  for (size_t i = 0; i < attempt.ranks.size(); ++i) {
    if (attempt.ranks[i].state != RankState::pending) continue;
    return emit(RankRunning{job.id, number, static_cast<int>(i)});
  }
  const bool running = std::ranges::all_of(
      attempt.ranks, [](const Rank& rank) { return rank.state == RankState::running; });
  const bool may =
      attempt.state == AttemptState::suspending || may_follow(attempt.state, AttemptState::running);
  if (running && may) emit(AttemptRunning{job.id, number});
}

}  // namespace hai::test
