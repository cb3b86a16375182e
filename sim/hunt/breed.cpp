#include "sim/hunt/breed.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim/decision_points.h"
#include "sim/random_world.h"

namespace hai {
namespace {

constexpr int kServers = 2;
// Of a world with held messages: its checkers must know that they may overtake each other.
constexpr double kReordering = 0.001;
constexpr std::array kUsers = {"ann", "bob", "eve"};

Duration between(Rng& rng, Duration low, Duration high) {
  return Duration(rng.between(low.count(), high.count()));
}
// Each order of magnitude as likely as another.
Duration of_any_size(Rng& rng, Duration low, Duration high) {
  int64_t top = low.count();
  while (top < high.count() && rng.chance(0.75)) top *= 4;
  return Duration(rng.between(low.count(), std::min(top * 4, high.count())));
}

// How long a fault lasts: often about as long as something waits for.
Duration fault_time(const WorldPlan& plan, Rng& rng, Duration low, Duration high) {
  if (rng.chance(0.5)) return of_any_size(rng, low, high);
  const Knobs& knobs = plan.knobs;
  const std::array<Duration, 6> kWaits = {knobs.heartbeat,    knobs.agent_lease,
                                          knobs.down_after,   knobs.down_after + knobs.heartbeat,
                                          knobs.resend_after, knobs.launch_timeout};
  return kWaits[rng.below(kWaits.size())] + of_any_size(rng, 1ms, 8s);
}

// What can follow a message is where most goes wrong; the rest is there, too.
int random_point(Rng& rng) {
  static const std::vector<int> kFavoured = [] {
    std::vector<int> points;
    for (const char* name : {"report_leaves",         "report_arrives", "hello_leaves",
                             "hello_arrives",         "launch_leaves",  "launch_arrives",
                             "kill_leaves",           "kill_arrives",   "forget_leaves",
                             "grant_leaves",          "grant_arrives",  "peers_arrives",
                             "suspend_arrives",       "store_asked",    "attempt_placed",
                             "attempt_starting",      "attempt_ended",  "attempt_suspending",
                             "node_liveness_changed", "nodes_reserved", "epoch_started",
                             "rank_running",          "rank_ended",     "job_requeued"})
      points.push_back(point_named(name));
    return points;
  }();
  if (rng.chance(0.7)) return rng.pick(kFavoured);
  return static_cast<int>(rng.below(count_of_points()));
}

int random_node(const WorldPlan& plan, Rng& rng) { return static_cast<int>(rng.below(plan.nodes)); }

Duration random_time(const WorldPlan& plan, Rng& rng) {
  return between(rng, 1s, std::max(plan.chaos - 1s, Duration(2s)));
}

When random_when(const WorldPlan& plan, Rng& rng) {
  When when{.at = random_time(plan, rng)};
  if (rng.chance(0.35)) return when;
  when.point = random_point(rng);
  when.node = rng.chance(0.5) ? random_node(plan, rng) : -1;
  when.nth = static_cast<int>(rng.between(1, rng.chance(0.7) ? 2 : 6));
  when.after = rng.chance(0.4) ? Duration(0) : of_any_size(rng, 10us, 5s);
  return when;
}

When later(When when, Duration by) {
  (when.point < 0 ? when.at : when.after) += by;
  return when;
}

int next_strike(const WorldPlan& plan) {
  int last = 0;
  for (const PlannedDeed& planned : plan.deeds) last = std::max(last, planned.strike);
  return last + 1;
}

int next_job(const WorldPlan& plan) {
  int last = 0;
  for (const PlannedAct& planned : plan.acts) last = std::max(last, planned.act.job);
  return last + 1;
}

Act random_act(const WorldPlan& plan, Rng& rng) {
  const int jobs = next_job(plan);
  if (rng.chance(0.6)) {
    JobSpec spec = random_job(rng, jobs, plan.nodes);
    // Shorter programs: more starts and ends in the same time.
    auto& work = spec.environments["SIM_WORK"];
    work = std::to_string(std::stoll(work) / (int64_t{1} << rng.between(0, 5)));
    return {.kind = ActKind::submit,
            .job = jobs,
            .user = rng.pick(kUsers),
            .spec = std::make_shared<const JobSpec>(std::move(spec))};
  }
  if (rng.chance(0.15)) {
    return {.kind = ActKind::quota,
            .user = rng.pick(kUsers),
            .level = rng.pick(kPriorities),
            .nodes = rng.between(0, plan.nodes)};
  }
  if (rng.chance(0.05)) return {.kind = ActKind::knob, .nodes = rng.between(0, 100)};
  constexpr std::array kControls = {
      ActKind::stop,    ActKind::suspend, ActKind::suspend,  ActKind::resume, ActKind::resume,
      ActKind::hold,    ActKind::release, ActKind::priority, ActKind::cordon, ActKind::drain,
      ActKind::undrain, ActKind::undrain, ActKind::remove};
  return {.kind = rng.pick(kControls),
          .job = static_cast<int>(rng.between(1, jobs)),
          .node = random_node(plan, rng),
          .level = rng.pick(kPriorities)};
}

// A deed and what undoes it.
void add_narrow_fault(WorldPlan& plan, const When& when, Rng& rng) {
  const int strike = next_strike(plan);
  const bool is_there = when.point >= 0 && rng.chance(0.6);
  const int node = is_there ? PlannedDeed::kThere : random_node(plan, rng);
  const auto server = static_cast<int>(rng.below(kServers));
  auto add = [&](const When& at, Deed deed) { plan.deeds.push_back({at, deed, strike}); };
  const Duration down = fault_time(plan, rng, 20ms, 60s);
  auto pair = [&](DeedKind first, DeedKind second, int target) {
    add(when, {.kind = first, .target = target});
    add(later(when, down), {.kind = second, .target = target});
  };
  switch (rng.below(18)) {
    case 0:
    case 1:
    case 2:
      return pair(DeedKind::agent_crash, DeedKind::agent_start, node);
    case 3:
    case 4:
      return pair(DeedKind::node_crash, DeedKind::agent_start, node);
    case 5:
    case 6:
      return pair(DeedKind::server_crash, DeedKind::server_start, server);
    case 7:
      return add(when, {.kind = DeedKind::server_pause, .target = server, .time = down});
    case 8:
      return add(when, {.kind = DeedKind::agent_pause, .target = node, .time = down});
    case 9:
    case 10:
    case 11:
      return add(when, {.kind = DeedKind::cut,
                        .target = node,
                        .time = fault_time(plan, rng, 1s, 2min),
                        .a = rng.between(0, 3),
                        .b = rng.between(0, 2)});
    case 12:
      return add(when, {.kind = DeedKind::shim_crash, .target = node});
    case 13:
      if (plan.store_can_be_slow)
        add(when, {.kind = DeedKind::store_slow, .time = of_any_size(rng, 1s, 60s)});
      return add(when, {.kind = DeedKind::store_fails,
                        .time = of_any_size(rng, 10ms, 15s),
                        .a = rng.chance(0.5) ? 1'000'000 : 300'000});
    case 14:
      if (rng.chance(0.5)) add(when, {.kind = DeedKind::store_breaks});
      return add(when, {.kind = DeedKind::store_down, .time = of_any_size(rng, 100ms, 20s)});
    case 15:
      if (rng.chance(0.5)) return add(when, {.kind = DeedKind::record_lost, .target = node});
      return pair(DeedKind::record_unwritable, DeedKind::record_writable, node);
    case 16: {
      const auto check = static_cast<int64_t>(rng.below(count_of_checks()));
      add(when,
          {.kind = DeedKind::check_fails, .target = node, .a = check, .b = rng.between(0, 7)});
      return add(later(when, down), {.kind = DeedKind::check_mends, .target = node, .a = check});
    }
    default:
      return add(when, {.kind = DeedKind::clock,
                        .target = static_cast<int>(rng.below(kServers + plan.nodes)),
                        .time = of_any_size(rng, 1s, 5min),
                        .a = between(rng, -12h, 12h).count()});
  }
}

// Many at once: a switch, a split, an upgrade, a control plane that is away.
void add_wide_fault(WorldPlan& plan, const When& when, Rng& rng) {
  const int strike = next_strike(plan);
  auto add = [&](const When& at, Deed deed) { plan.deeds.push_back({at, deed, strike}); };
  const Duration time = fault_time(plan, rng, 1s, 2min);
  const auto kind = rng.below(4);
  const double share = rng.chance(0.4) ? 1 : rng.unit();
  const auto direction = rng.chance(0.7) ? int64_t{1} : rng.between(0, 3);
  const auto island = rng.between(0, 1);
  if (kind == 3) {
    if (rng.chance(0.5)) return add(when, {.kind = DeedKind::store_down, .time = time});
    for (int i = 0; i < kServers; ++i) {
      add(when, {.kind = DeedKind::server_crash, .target = i});
      add(later(when, time + of_any_size(rng, 10ms, 5s)),
          {.kind = DeedKind::server_start, .target = i});
    }
    return;
  }
  for (int i = 0; i < plan.nodes; ++i) {
    if (!rng.chance(share)) continue;
    if (kind == 2) {
      add(when, {.kind = DeedKind::agent_crash, .target = i});
      add(later(when, of_any_size(rng, 20ms, 10s)), {.kind = DeedKind::agent_start, .target = i});
    } else {
      add(when, {.kind = DeedKind::cut, .target = i, .time = time, .a = direction, .b = island});
    }
  }
}

// A node is away until others give it up or nearly so, and what it says and hears when it is back
// comes in another order.
void add_troubled_return(WorldPlan& plan, Rng& rng) {
  const int node = random_node(plan, rng);
  const Duration start = random_time(plan, rng);
  const Duration time = plan.knobs.down_after + of_any_size(rng, 1ms, 20s) - 2s;
  const int strike = next_strike(plan);
  auto add = [&](Duration at, Deed deed) { plan.deeds.push_back({{.at = at}, deed, strike}); };
  switch (rng.below(3)) {
    case 0:
      add(start, {.kind = DeedKind::agent_pause, .target = node, .time = time});
      break;
    case 1:
      add(start, {.kind = DeedKind::cut, .target = node, .time = time, .a = rng.between(1, 3)});
      break;
    default:
      add(start, {.kind = DeedKind::agent_crash, .target = node});
      add(start + time, {.kind = DeedKind::agent_start, .target = node});
  }
  constexpr std::array kPoints = {"report_leaves", "hello_leaves",  "news_leaves", "launch_leaves",
                                  "kill_leaves",   "forget_leaves", "grant_leaves"};
  for (int64_t left = rng.between(0, 4); left > 0; --left) {
    plan.holds.push_back({{.at = start + time - 1ms,
                           .point = point_named(rng.pick(kPoints)),
                           .node = node,
                           .nth = static_cast<int>(rng.between(1, 3))},
                          static_cast<int>(rng.between(1, 4))});
    plan.network.reordering = std::max(plan.network.reordering, kReordering);
  }
  // Somebody waits for it.
  if (rng.chance(0.5)) return;
  for (int64_t left = rng.between(1, 4); left > 0; --left)
    plan.acts.push_back({{.at = start + time / 2}, random_act(plan, rng)});
}

void add_fault(WorldPlan& plan, const When& when, Rng& rng) {
  if (rng.chance(0.2)) return add_wide_fault(plan, when, rng);
  if (rng.chance(0.25)) return add_troubled_return(plan, rng);
  add_narrow_fault(plan, when, rng);
}

void add_hold(WorldPlan& plan, Rng& rng) {
  constexpr std::array kPoints = {"report_leaves",   "report_leaves", "hello_leaves",
                                  "news_leaves",     "launch_leaves", "kill_leaves",
                                  "forget_leaves",   "grant_leaves",  "suspend_leaves",
                                  "continue_leaves", "peers_leaves"};
  When when{.at = random_time(plan, rng), .point = point_named(rng.pick(kPoints))};
  when.node = rng.chance(0.5) ? random_node(plan, rng) : -1;
  when.nth = static_cast<int>(rng.between(1, 3));
  plan.holds.push_back({when, static_cast<int>(rng.between(1, 3))});
  plan.network.reordering = std::max(plan.network.reordering, kReordering);
}

void open_quotas(WorldPlan& plan, Rng& rng) {
  plan.acts.push_back({{.at = 3s}, {.kind = ActKind::users}});
  for (const char* user : kUsers) {
    for (Priority level : kPriorities) {
      const int64_t nodes = rng.chance(0.7) ? int64_t{plan.nodes} * 4 : rng.between(0, plan.nodes);
      plan.acts.push_back(
          {{.at = 4s}, {.kind = ActKind::quota, .user = user, .level = level, .nodes = nodes}});
    }
  }
}

// ---- changes

template <typename Items>
void drop_some(Items& items, Rng& rng) {
  if (!items.empty())
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(rng.below(items.size())));
}

void shift(When& when, const WorldPlan& plan, Rng& rng) {
  switch (rng.below(5)) {
    case 0:
      when = random_when(plan, rng);
      return;
    case 1:
      when.nth = std::max(1, when.nth + static_cast<int>(rng.between(-1, 2)));
      return;
    case 2:
      when.after = rng.chance(0.5) ? Duration(0) : of_any_size(rng, 10us, 10s);
      return;
    case 3:
      when.node = when.point < 0 ? -1 : random_node(plan, rng);
      return;
    default:
      when.at = std::max(Duration(1s), when.at + between(rng, -5s, 5s));
  }
}

void change_deed(WorldPlan& plan, Rng& rng) {
  if (plan.deeds.empty()) return add_fault(plan, random_when(plan, rng), rng);
  PlannedDeed& planned = rng.pick(plan.deeds);
  switch (rng.below(4)) {
    case 0:
      planned.deed.time = fault_time(plan, rng, 10ms, 90s);
      return;
    case 1:
      planned.deed.target = random_node(plan, rng);
      return;
    default: {
      // All of the fault moves.
      When when = planned.when;
      shift(when, plan, rng);
      Duration from_first{0};
      for (PlannedDeed& other : plan.deeds) {
        if (other.strike != planned.strike) continue;
        other.when = later(when, from_first);
        from_first += of_any_size(rng, 20ms, 30s);
      }
    }
  }
}

void change_act(WorldPlan& plan, Rng& rng) {
  if (plan.acts.empty()) return;
  PlannedAct& planned = rng.pick(plan.acts);
  if (rng.chance(0.5)) return shift(planned.when, plan, rng);
  if (planned.act.kind == ActKind::submit) {
    JobSpec spec = random_job(rng, planned.act.job, plan.nodes);
    planned.act.spec = std::make_shared<const JobSpec>(std::move(spec));
  } else {
    planned.act = random_act(plan, rng);
  }
}

// More of the same at about the same time, as those do who wait.
void add_acts(WorldPlan& plan, Rng& rng) {
  const Duration at = random_time(plan, rng);
  for (int64_t left = rng.between(1, 6); left > 0; --left) {
    When when{.at = at + between(rng, 0s, 3s)};
    if (rng.chance(0.3)) when = random_when(plan, rng);
    plan.acts.push_back({when, random_act(plan, rng)});
  }
}

void take_from(const WorldPlan& other, WorldPlan& plan, Rng& rng) {
  if (!other.deeds.empty()) {
    const int strike = rng.pick(other.deeds).strike;
    const int mine = next_strike(plan);
    for (PlannedDeed planned : other.deeds) {
      if (planned.strike != strike) continue;
      planned.strike = mine;
      plan.deeds.push_back(planned);
    }
  }
  if (!other.holds.empty() && rng.chance(0.5)) {
    plan.holds.push_back(rng.pick(other.holds));
    plan.network.reordering = std::max(plan.network.reordering, kReordering);
  }
}

void change_one_knob(WorldPlan& plan, Rng& rng) {
  const Knobs others = random_knobs(rng, 0.7);
  const KnobRange& range = knob_ranges()[rng.below(knob_ranges().size())];
  Knobs changed = plan.knobs;
  const bool is_set = set_knob(changed, range.name, get_knob(others, range.name)).is_ok();
  if (is_set && check_knobs(changed).is_ok()) plan.knobs = changed;
}

void change(WorldPlan& plan, const WorldPlan& other, Rng& rng) {
  switch (rng.below(16)) {
    case 0:
    case 1:
    case 2:
      return add_fault(plan, random_when(plan, rng), rng);
    case 3:
      return drop_some(plan.deeds, rng);
    case 4:
    case 5:
    case 6:
      return change_deed(plan, rng);
    case 7:
      return add_hold(plan, rng);
    case 8:
      return drop_some(plan.holds, rng);
    case 9:
    case 10:
      return change_act(plan, rng);
    case 11:
    case 12:
      return add_acts(plan, rng);
    case 13:
      return change_one_knob(plan, rng);
    case 14:
      plan.noise = rng.next() | 1;
      return;
    default:
      return take_from(other, plan, rng);
  }
}

}  // namespace

WorldPlan fresh_world(Rng& rng) {
  WorldPlan plan;
  plan.nodes = static_cast<int>(rng.between(2, 7));
  plan.leaves = static_cast<int>(rng.between(1, 3));
  plan.chaos = between(rng, 40s, 200s);
  plan.noise = rng.next() | 1;
  plan.drift_ppm_max = rng.chance(0.5) ? 1'000 : 0;
  plan.launch_failures_ppm = rng.chance(0.2) ? 50'000 : 0;
  plan.store_can_be_slow = rng.chance(0.2);
  plan.network.delay_max = of_any_size(rng, 1ms, 200ms);
  plan.network.loss = rng.chance(0.5) ? static_cast<double>(rng.between(0, 50)) / 1000 : 0;
  plan.network.duplication = rng.chance(0.5) ? static_cast<double>(rng.between(0, 50)) / 1000 : 0;
  plan.network.reordering = rng.chance(0.5) ? static_cast<double>(rng.between(0, 200)) / 1000 : 0;
  plan.network.keepalive = between(rng, 5s, 20s);
  plan.knobs = random_knobs(rng, 0.3);
  open_quotas(plan, rng);
  const Duration gap = of_any_size(rng, 500ms, 8s);
  for (Duration at = 5s; at < plan.chaos; at += between(rng, 0s, 2 * gap))
    plan.acts.push_back({{.at = at}, random_act(plan, rng)});
  for (int64_t left = rng.between(0, 8); left > 0; --left)
    add_fault(plan, random_when(plan, rng), rng);
  if (rng.chance(0.5)) {
    for (int64_t left = rng.between(1, 6); left > 0; --left) add_hold(plan, rng);
  }
  return plan;
}

WorldPlan child_of(const WorldPlan& parent, const WorldPlan& other, Rng& rng) {
  WorldPlan plan = parent;
  for (int64_t left = rng.between(1, rng.chance(0.7) ? 3 : 8); left > 0; --left)
    change(plan, other, rng);
  return plan;
}

}  // namespace hai
