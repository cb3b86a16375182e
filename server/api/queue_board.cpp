#include "server/api/queue_board.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "server/plan/order.h"
#include "server/plan/snapshot.h"

namespace hai {

namespace {

constexpr int64_t kLookPause = 10;  // times its cost: a tenth of one thread at most
constexpr int64_t kAheadPause = 5;
constexpr size_t kHeldMax = 1'000;
constexpr size_t kHeldSearched = 20'000;
constexpr Duration kSumStep = 30min;  // ends of what is summed up
constexpr int kSumSteps = 48;         // a day; what ends later is one block

// Held jobs stand in no order; some are shown all the same.
std::vector<JobId> held_jobs(const ClusterState& state) {
  std::vector<JobId> held;
  size_t searched = 0;
  for (const auto& [order, id] : state.waiting()) {
    if (held.size() == kHeldMax || ++searched > kHeldSearched) break;
    if (state.find(id)->held) held.push_back(id);
  }
  return held;
}

bool is_closed(const Node& node) {
  return node.liveness != Liveness::up || node.scheduling != Scheduling::open;
}

// Of the nodes of an attempt or a reservation: shared ones by the part of their GPUs.
double nodes_used(const ClusterState& state, const Placement& places) {
  double nodes = 0;
  for (const RankPlacement& place : places) {
    const Node* node = state.find(place.node);
    const int gpus = node == nullptr ? 0 : node->facts.gpus;
    nodes += gpus == 0 ? 1.0 : static_cast<double>(place.gpus.count()) / gpus;
  }
  return nodes;
}

QueueBlock block_of(const Job& job, QueueBlock::Kind kind, double nodes) {
  return {.kind = kind,
          .group = job.spec->group,
          .nodes = nodes,
          .job = job.id,
          .name = job.spec->name,
          .user = job.user,
          .jobs = 1};
}

std::vector<QueueBlock> blocks_of(const ClusterState& state, UnixTime now,
                                  const RunTimes& run_times) {
  std::vector<QueueBlock> blocks;
  for (JobId id : state.live()) {
    const Job& job = *state.find(id);
    Placement places;
    for (const Rank& rank : job.attempt->holding_ranks()) places.push_back(rank.place);
    const bool is_leaving = job.attempt->state == AttemptState::suspending || job.attempt->end;
    QueueBlock block =
        block_of(job, is_leaving ? QueueBlock::Kind::leaving : QueueBlock::Kind::running,
                 nodes_used(state, places));
    block.end_p50 = now + expected_end(state, job, now, run_times, 0.5);
    block.end_p90 = now + expected_end(state, job, now, run_times, 0.9);
    blocks.push_back(std::move(block));
  }
  for (JobId id : state.reserved()) {
    const Job& job = *state.find(id);
    if (job.has_live_attempt()) continue;
    blocks.push_back(
        block_of(job, QueueBlock::Kind::held, nodes_used(state, job.reservation->placement)));
  }
  std::map<std::string, int> closed;
  std::map<std::pair<std::string, UnixTime>, int> closing;
  for (const auto& [id, node] : state.nodes()) {
    if (node.removed_at || !is_closed(node)) continue;
    if (node.drain_at && node.liveness == Liveness::up && *node.drain_at > now) {
      ++closing[{node.facts.group, *node.drain_at}];
    } else {
      ++closed[node.facts.group];
    }
  }
  for (const auto& [group, nodes] : closed) {
    blocks.push_back(
        {.kind = QueueBlock::Kind::closed, .group = group, .nodes = static_cast<double>(nodes)});
  }
  for (const auto& [at, nodes] : closing) {
    blocks.push_back({.kind = QueueBlock::Kind::closed,
                      .group = at.first,
                      .nodes = static_cast<double>(nodes),
                      .from = at.second});
  }
  std::ranges::stable_sort(blocks, std::ranges::greater{}, &QueueBlock::nodes);
  return blocks;
}

// Each sample gets its share of the time: many short looks say more than one long one.
ForecastOptions shared_time(Duration most) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  const auto until = std::make_shared<Clock::time_point>(began);
  ForecastOptions options;
  options.is_over = [until] { return Clock::now() >= *until; };
  options.begins = [until, began, share = most / options.samples](int sample) {
    *until = began + (sample + 1) * share;
  };
  return options;
}

}  // namespace

std::string_view to_string(QueueBlock::Kind kind) {
  switch (kind) {
    case QueueBlock::Kind::running:
      return "running";
    case QueueBlock::Kind::leaving:
      return "leaving";
    case QueueBlock::Kind::held:
      return "held";
    case QueueBlock::Kind::closed:
      return "closed";
  }
  return "running";
}

std::vector<QueueBlock> bounded_blocks(const std::vector<QueueBlock>& blocks, const Sight& sight,
                                       const std::string& group, UnixTime now) {
  std::vector<QueueBlock> named;
  std::map<std::tuple<std::string, QueueBlock::Kind, int>, QueueBlock> sums;
  for (const QueueBlock& block : blocks) {
    if (!group.empty() && block.group != group) continue;
    const bool is_seen = !block.job || sight.sees(block.user);
    if (is_seen && named.size() < kQueueBlocksMax) {
      named.push_back(block);
      continue;
    }
    int step = kSumSteps;
    if (block.end_p50) {
      step = static_cast<int>(std::min<int64_t>(kSumSteps, (*block.end_p50 - now) / kSumStep));
    }
    QueueBlock& sum = sums[{block.group, block.kind, step}];
    sum.kind = block.kind;
    sum.group = block.group;
    sum.nodes += block.nodes;
    sum.jobs += block.jobs;
    if (block.end_p50) sum.end_p50 = std::max(sum.end_p50.value_or(now), *block.end_p50);
    if (block.end_p90) sum.end_p90 = std::max(sum.end_p90.value_or(now), *block.end_p90);
    if (block.from) sum.from = std::min(sum.from.value_or(*block.from), *block.from);
  }
  for (auto& [key, sum] : sums) named.push_back(std::move(sum));
  return named;
}

struct QueueBoard::Look {
  Epoch epoch;
  UnixTime at{};
  Knobs knobs;
  StoredState stored;
  RunTimes run_times;
  Duration cost{0};

  std::vector<QueuePlace> places;
  std::vector<QueueBlock> blocks;  // those with most nodes first
  // What most answers need, made here and not on the loop.
  std::map<std::string, int> group_nodes;
  std::vector<QueueBlock> all_bounded;  // for who sees all jobs, of all groups

  void think() {
    const auto began = std::chrono::steady_clock::now();
    const ClusterState state(stored);
    places = queue_places(state, knobs, at);
    blocks = blocks_of(state, at, run_times);
    for (const auto& [id, node] : state.nodes()) {
      if (!node.removed_at) ++group_nodes[node.facts.group];
    }
    all_bounded = bounded_blocks(blocks, Sight{}, "", at);
    cost = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began);
  }
};

struct QueueBoard::Ahead {
  std::shared_ptr<const Look> look;
  QueueForecast forecast;
  Duration cost{0};

  void think() {
    const auto began = std::chrono::steady_clock::now();
    forecast = forecast_queue(ClusterState(look->stored), look->knobs, look->at, look->run_times,
                              shared_time(kEstimateTimeMax));
    cost = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began);
  }
};

bool QueueBoard::is_fresh(const ClusterState& state) const {
  return look_ != nullptr && look_->epoch == state.epoch() && loop_.now() < look_again_at_;
}

void QueueBoard::ask(const Caller& caller, const QueueRequest& request, Done<QueueView> done) {
  const auto answer = [this, request, done](const Controller::ReadContext& context,
                                            const Actor& actor) {
    done(view_for(request, context, actor));
  };
  // Nobody unknown makes the server think.
  controller_.read(
      caller,
      [this, caller, answer, done](const Controller::ReadContext& context, const Actor& actor) {
        if (is_fresh(context.state)) return answer(context, actor);
        waiting_.push_back([this, caller, answer, done](const Status& status) {
          if (!status.is_ok()) return done(status);
          controller_.read(caller, answer, done);
        });
        begin_look(context.state);
      },
      done);
}

void QueueBoard::begin_look(const ClusterState& state) {
  if (is_looking_) return;
  auto look = std::make_shared<Look>();
  look->epoch = state.epoch();
  look->at = loop_.wall_now();
  look->knobs = controller_.knobs();
  look->stored = copy_for_planning(state, look->knobs, look->at,
                                   {.waiting_max = kOrderedMax, .also = held_jobs(state)});
  // What a plan does not need, the picture does.
  for (Node& bare : look->stored.nodes) bare.drain_at = state.find(bare.id)->drain_at;
  look->run_times = estimates_.run_times();
  is_looking_ = true;
  auto deliver = scope_.bind([this, look] {
    is_looking_ = false;
    look_ = look;
    look_again_at_ = loop_.now() + std::max(kOrderAgeMax, look->cost * kLookPause);
    for (const auto& each : std::exchange(waiting_, {})) each(ok());
    begin_ahead();
  });
  const bool is_taken =
      look_worker_.post([&loop = loop_, look, answer = std::move(deliver)]() mutable {
        look->think();
        loop.post(std::move(answer));
      });
  if (is_taken) return;
  is_looking_ = false;
  for (const auto& each : std::exchange(waiting_, {})) {
    each(resource_exhausted("the queue cannot be looked at now; ask again in a while"));
  }
}

void QueueBoard::begin_ahead() {
  const bool is_known = ahead_ != nullptr && ahead_->look->epoch == look_->epoch;
  if (is_foreseeing_ || (is_known && loop_.now() < ahead_again_at_)) return;
  auto ahead = std::make_shared<Ahead>();
  ahead->look = look_;
  is_foreseeing_ = true;
  auto deliver = scope_.bind([this, ahead] {
    is_foreseeing_ = false;
    ahead_ = ahead;
    ahead_again_at_ = loop_.now() + std::max(kEstimateAgeMax, ahead->cost * kAheadPause);
  });
  const bool is_taken =
      ahead_worker_.post([&loop = loop_, ahead, answer = std::move(deliver)]() mutable {
        ahead->think();
        loop.post(std::move(answer));
      });
  if (!is_taken) is_foreseeing_ = false;
}

std::optional<QueueBoard::Foreseen> QueueBoard::foreseen(const Job& job) const {
  if (ahead_ == nullptr || ahead_->look->epoch != controller_.state().epoch()) return std::nullopt;
  const Look& look = *ahead_->look;
  if (loop_.wall_now() - look.at > kForeseenAgeMax) return std::nullopt;
  const auto found = ahead_->forecast.starts.find(job.id);
  if (found == ahead_->forecast.starts.end() || !found->second.p90) return std::nullopt;
  const auto then = std::ranges::find(look.stored.jobs, job.id, &Job::id);
  if (then == look.stored.jobs.end()) return std::nullopt;
  const auto is_as_then = [&](auto field) { return (*then).*field == job.*field; };
  const bool is_same = is_as_then(&Job::spec) && is_as_then(&Job::priority) &&
                       is_as_then(&Job::custom_rank) && is_as_then(&Job::held) &&
                       is_as_then(&Job::unmet_dependencies) && is_as_then(&Job::waiting_since);
  if (!is_same) return std::nullopt;
  return Foreseen{.at = look.at, .forecast = found->second};
}

void QueueBoard::add_estimate(QueueEntryView& entry) const {
  if (entry.job.held || ahead_ == nullptr || ahead_->look->epoch != look_->epoch) return;
  const auto found = ahead_->forecast.starts.find(entry.place.job);
  if (found == ahead_->forecast.starts.end() || !found->second.p50) return;
  const StartForecast& forecast = found->second;
  const UnixTime from = ahead_->look->at;
  entry.start_p50 = from + *forecast.p50;
  if (!forecast.p90) return;
  entry.start_p90 =
      std::max(*entry.start_p50, from + estimates_.calibration().widened(*forecast.p90));
}

Result<QueueView> QueueBoard::view_for(const QueueRequest& request,
                                       const Controller::ReadContext& context,
                                       const Actor& actor) const {
  const ClusterState& state = context.state;
  // Another term may have begun while somebody waited.
  if (look_ == nullptr || look_->epoch != state.epoch()) {
    return unavailable("another server has just taken over; ask again");
  }
  const Sight sight = queries_.sight_of(state, actor);
  const auto is_wanted = [&](const Job& job) {
    if (!request.user.empty() && job.user != request.user) return false;
    if (!request.group.empty() && job.spec->group != request.group) return false;
    if (!request.priorities.empty() &&
        std::ranges::find(request.priorities, job.priority) == request.priorities.end()) {
      return false;
    }
    if (request.team.empty()) return true;
    const User* user = state.find_user(job.user);
    return user != nullptr && std::ranges::find(user->groups, request.team) != user->groups.end();
  };
  QueueView view{.at = look_->at};
  std::map<std::string, QueueGroupView> groups;
  for (const auto& [name, nodes] : look_->group_nodes) groups[name].nodes = nodes;
  for (const QueuePlace& place : look_->places) {
    const Job* job = state.find(place.job);
    if (job == nullptr || !job->is_waiting()) continue;  // gone since
    groups.try_emplace(job->spec->group);
    if (!sight.sees(job->user) || !is_wanted(*job)) continue;
    const int64_t number = view.total++;
    if (number < request.from) continue;
    if (view.entries.size() == static_cast<size_t>(request.limit)) {
      view.next = request.from + request.limit;
      continue;
    }
    QueueEntryView entry{.job = visible_view(view_job(state, *job, context.soft), sight),
                         .group = job->spec->group,
                         .waiting_since = waiting_since(*job),
                         .place = place};
    if (job->reservation) {
      entry.nodes_held = static_cast<int>(job->reservation->placement.size());
    }
    add_estimate(entry);
    view.entries.push_back(std::move(entry));
  }
  for (auto& [name, group] : groups) {
    group.group = name;
    view.groups.push_back(group);
  }
  view.blocks = sight.misses_jobs() || !request.group.empty()
                    ? bounded_blocks(look_->blocks, sight, request.group, look_->at)
                    : look_->all_bounded;
  if (ahead_ != nullptr && ahead_->look->epoch == look_->epoch) {
    view.estimated_at = ahead_->look->at;
    view.estimate_note =
        fmt::format("the planner run ahead {} times, with run times learned from {} jobs",
                    ahead_->forecast.samples, estimates_.run_times().count());
  } else {
    view.estimate_note = "the planner is being run ahead; ask again in a moment";
  }
  return view;
}

}  // namespace hai
