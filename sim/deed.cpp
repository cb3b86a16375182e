#include "sim/deed.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace hai {
namespace {

struct Check {
  const char* name;
  HealthTier tier;
  bool has_gpu;
};
// Faults draws by index: new ones come last, and are drawn by name.
constexpr std::array kChecks = {Check{"gpu_xid", HealthTier::evict, true},
                                Check{"gpu_xid", HealthTier::drain, true},
                                Check{"gpu_xid", HealthTier::validate, true},
                                Check{"gpu_xid", HealthTier::app, true},
                                Check{"gpu_count", HealthTier::evict, false},
                                Check{"gpu_nvlink", HealthTier::drain, true},
                                Check{"ib_link", HealthTier::evict, false},
                                Check{"memory_errors", HealthTier::drain, false},
                                Check{"cpu_count", HealthTier::validate, false},
                                Check{"mount", HealthTier::drain, false}};

CheckResult failing(const Check& check, int64_t gpu) {
  CheckResult result{.name = check.name,
                     .verdict = CheckVerdict::fail,
                     .tier = check.tier,
                     .summary = "simulated",
                     .said_kind = check_kind_of(check.name)};
  if (check.has_gpu) {
    result.subject = "gpu " + std::to_string(gpu);
    result.gpus = GpuSet{uint64_t{1} << gpu};
  }
  return result;
}

constexpr std::array<std::string_view, kDeedKinds> kDeedNames = {
    "server_crash", "server_start", "server_pause",      "servers_away",
    "agent_crash",  "agent_start",  "agent_pause",       "impostor",
    "node_crash",   "shim_crash",   "record_unwritable", "record_writable",
    "record_lost",  "cut",          "store_fails",       "store_slow",
    "store_down",   "store_breaks", "store_goes_back",   "clock",
    "check_fails",  "check_mends"};

std::string seconds(Duration time) {
  return fmt::format("{:.3g} s", static_cast<double>(time.count()) / 1e6);
}

}  // namespace

std::string_view to_string(DeedKind kind) { return kDeedNames[static_cast<size_t>(kind)]; }
int count_of_checks() { return static_cast<int>(kChecks.size()); }
bool check_has_gpu(int check) { return kChecks[check].has_gpu; }
bool check_is_latched(int check) { return check_kind_of(kChecks[check].name).is_latched; }

int targets_of(DeedKind kind, const World& world) {
  switch (kind) {
    case DeedKind::server_crash:
    case DeedKind::server_start:
    case DeedKind::server_pause:
      return world.server_count();
    case DeedKind::clock:
      return world.machine_count();
    case DeedKind::servers_away:
    case DeedKind::store_fails:
    case DeedKind::store_slow:
    case DeedKind::store_down:
    case DeedKind::store_breaks:
    case DeedKind::store_goes_back:
      return 1;
    default:
      return world.node_count();
  }
}

std::string told(const Deed& deed, const World& world) {
  const std::string server = World::server_name(deed.target);
  const std::string node =
      deed.target < world.node_count() ? world.node_name(deed.target) : std::string("nobody");
  switch (deed.kind) {
    case DeedKind::server_crash:
      return server + " is killed";
    case DeedKind::server_start:
      return server + " starts";
    case DeedKind::server_pause:
      return server + " stands still for " + seconds(deed.time);
    case DeedKind::servers_away:
      return "no server can start for " + seconds(deed.time);
    case DeedKind::agent_crash:
      return "the agent of " + node + " is killed";
    case DeedKind::agent_start:
      return "the agent of " + node + " starts";
    case DeedKind::agent_pause:
      return "the agent of " + node + " stands still for " + seconds(deed.time);
    case DeedKind::impostor:
      return "a second agent bears the name of " + node + " for " + seconds(deed.time);
    case DeedKind::node_crash:
      return node + " loses power, its agent and programs with it";
    case DeedKind::shim_crash:
      return "a shim on " + node + " is killed";
    case DeedKind::record_unwritable:
      return node + "'s agent can't write its record any more";
    case DeedKind::record_writable:
      return node + "'s agent can write its record again";
    case DeedKind::record_lost:
      return node + "'s agent's record is lost";
    case DeedKind::cut: {
      constexpr std::array kWays = {"is cut off from its peers", "is cut off from the servers",
                                    "can't reach the servers, but hears them",
                                    "can't hear the servers, but reaches them"};
      return fmt::format("{} {}{} for {}", node, kWays.at(deed.a),
                         deed.a != 0 && deed.b != 0 ? fmt::format(" (island {})", deed.b) : "",
                         seconds(deed.time));
    }
    case DeedKind::store_fails:
      return fmt::format("{:.0f} % of the store's requests fail for {}",
                         static_cast<double>(deed.a) / 1e4, seconds(deed.time));
    case DeedKind::store_slow:
      return "the store is slow for " + seconds(deed.time);
    case DeedKind::store_down:
      return "the store is away for " + seconds(deed.time);
    case DeedKind::store_breaks:
      return "the store fails over: its answers under way are lost";
    case DeedKind::store_goes_back:
      return fmt::format("the store loses its last {} transactions", deed.a);
    case DeedKind::clock:
      return fmt::format("the wall clock of {} jumps by {} for {}",
                         deed.target < world.server_count()
                             ? server
                             : world.node_name(deed.target - world.server_count()),
                         seconds(Duration(deed.a)), seconds(deed.time));
    case DeedKind::check_fails:
      return fmt::format("{} fails on {}", kChecks.at(deed.a).name, node);
    case DeedKind::check_mends:
      return fmt::format("{} is well again on {}", kChecks.at(deed.a).name, node);
  }
  return "";
}

Deeds::Deeds(World& world, Rng& own) : world_(world), own_(own), loop_(world.timeline()) {
  skew_id_.resize(world.machine_count());
  hook_store();
}

void Deeds::now(const Deed& deed) {
  if (on_deed) on_deed(deed);
  const int at = deed.target;
  auto last = [&](MonoTime& until) { until = std::max(until, time() + deed.time); };
  switch (deed.kind) {
    case DeedKind::server_crash:
      if (world_.server_runs(at)) world_.crash_server(at);
      return;
    case DeedKind::server_start:
      return start_server(at);
    case DeedKind::server_pause:
      return world_.pause_server(at, deed.time);
    case DeedKind::servers_away:
      return last(servers_away_until_);
    case DeedKind::agent_crash:
      if (world_.agent_runs(at)) world_.crash_agent(at);
      return;
    case DeedKind::agent_start:
      if (!world_.agent_runs(at)) world_.start_agent(at);
      return;
    case DeedKind::agent_pause:
      return world_.pause_agent(at, deed.time);
    case DeedKind::impostor:
      return impostor(deed);
    case DeedKind::node_crash:
      return world_.crash_node(at);
    case DeedKind::shim_crash:
      return world_.node(at).crash_one_shim();
    case DeedKind::record_unwritable:
      world_.node(at).record_is_writable = false;
      return;
    case DeedKind::record_writable:
      world_.node(at).record_is_writable = true;
      return;
    case DeedKind::record_lost:
      return world_.node(at).record.reset();
    case DeedKind::cut:
      return cut(deed);
    case DeedKind::store_fails:
      store_failure_rate_ = static_cast<double>(deed.a) / 1e6;
      store_failing_until_ = time() + deed.time;
      return;
    case DeedKind::store_slow:
      store_slow_until_ = time() + deed.time;
      return;
    case DeedKind::store_down:
      return last(store_down_until_);
    case DeedKind::store_breaks:
      return world_.database().break_sessions();
    case DeedKind::store_goes_back:
      return world_.database().go_back(static_cast<size_t>(deed.a));
    case DeedKind::clock:
      return jump_clock(deed);
    case DeedKind::check_fails:
      return world_.node(at).hardware().fail(failing(kChecks.at(deed.a), deed.b));
    case DeedKind::check_mends:
      return world_.node(at).hardware().mend(kChecks.at(deed.a).name);
  }
}

void Deeds::start_server(int index) {
  if (world_.server_runs(index)) return;
  if (time() >= servers_away_until_) return world_.start_server(index);
  loop_.call_after(servers_away_until_ - time(), [this, index] { start_server(index); });
}

void Deeds::impostor(const Deed& deed) {
  const int node = deed.target;
  if (world_.impostor_runs(node)) return;
  world_.start_impostor(node);
  loop_.call_after(deed.time, [this, node] {
    if (world_.impostor_runs(node)) world_.stop_impostor(node);
  });
}

void Deeds::cut(const Deed& deed) {
  const std::string& name = world_.node_name(deed.target);
  const SimNetwork::CutId id =
      world_.network().cut(name, static_cast<SimNetwork::Cut>(deed.a), static_cast<int>(deed.b));
  loop_.call_after(deed.time, [this, name, id] { world_.network().heal(name, id); });
}

void Deeds::jump_clock(const Deed& deed) {
  const int machine = deed.target;
  world_.set_wall_skew(machine, Duration(deed.a));
  loop_.call_after(deed.time, [this, machine, jump = ++skew_id_[machine]] {
    if (skew_id_[machine] == jump) world_.set_wall_skew(machine, Duration(0));
  });
}

// While it is slow the longest outlast every lease: the request is done, or arrives, when another
// one leads.
Duration Deeds::request_time(Rng& rng) const {
  if (store_is_slow() && rng.chance(0.3))
    return Duration(rng.between(Duration(kSlow).count(), Duration(kSlowest).count()));
  return Duration(rng.between(200, rng.chance(0.02) ? 1'500'000 : 4'000));
}

void Deeds::hook_store() {
  MemHooks& hooks = world_.database().hooks;
  Dice& dice = world_.dice();
  hooks.latency = [this, &dice] {
    return Duration(dice.draw(Source::store_takes, "", 200, own_,
                              [this](Rng& rng) { return request_time(rng).count(); }));
  };
  hooks.way_there = [this, &dice](Duration whole) {
    if (whole < kSlow) return whole / 2;
    const int64_t there =
        dice.draw(Source::store_there, "", (whole / 2).count(), own_, [whole](Rng& rng) {
          if (rng.chance(0.5)) return Duration(whole - 1ms).count();
          return rng.chance(0.5) ? Duration(1ms).count() : (whole / 2).count();
        });
    return std::min(Duration(there), whole);
  };
  hooks.fault = [this, &dice] {
    if (time() < store_down_until_) return MemFault::fail_before;
    if (time() >= store_failing_until_) return MemFault::ok;
    const int64_t fault = dice.draw(Source::store_fault, "", 0, own_, [this](Rng& rng) -> int64_t {
      if (!rng.chance(store_failure_rate_)) return 0;
      return rng.chance(0.5) ? 1 : 2;
    });
    return fault == 0 ? MemFault::ok : fault == 1 ? MemFault::fail_before : MemFault::fail_after;
  };
  hooks.lands_on_crash = [this, &dice] { return dice.chance(Source::store_lands, "", 0.5, own_); };
}

void Deeds::heal() {
  servers_away_until_ = store_down_until_ = store_failing_until_ = store_slow_until_ = time();
  world_.network().heal_all();
  world_.network().model.loss = 0;
  for (int i = 0; i < world_.machine_count(); ++i) world_.set_wall_skew(i, Duration(0));
  for (int i = 0; i < world_.node_count(); ++i) {
    world_.node(i).launch_failure_rate = 0;
    world_.node(i).record_is_writable = true;
    world_.node(i).hardware().mend_all();
    if (world_.impostor_runs(i)) world_.stop_impostor(i);
    if (!world_.agent_runs(i)) world_.start_agent(i);
  }
  for (int i = 0; i < world_.server_count(); ++i) {
    if (!world_.server_runs(i)) world_.start_server(i);
  }
}

}  // namespace hai
