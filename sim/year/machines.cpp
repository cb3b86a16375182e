#include "sim/year/machines.h"

#include <algorithm>
#include <cmath>

#include "common/check.h"

namespace hai {
namespace {

constexpr Duration kYear = 24h * 365;
constexpr Duration kReset = 3min;
constexpr Duration kShutdown = 20s;
constexpr Duration kReboot = 10min;
constexpr Duration kSeen = 1s;        // until the kernel's log is read
constexpr Duration kUnseenGap = 12h;  // a defect that no check sees fails so often under load

}  // namespace

Machines::Machines(Timeline& timeline, const TraceCluster& cluster, uint64_t seed, Fails fails)
    : loop_(timeline),
      cluster_(cluster),
      rng_(seed),
      xids_(XidTable::built_in()),
      fails_(std::move(fails)) {
  const auto nodes = static_cast<int>(cluster.nodes.size());
  const auto lemons = std::max(1, static_cast<int>(std::lround(nodes * kLemonShare)));
  std::vector<bool> is_lemon(cluster.nodes.size());
  for (int made = 0; made < lemons;) {
    const auto node = rng_.below(cluster.nodes.size());
    if (is_lemon[node]) continue;
    is_lemon[node] = true;
    ++made;
  }
  slots_.reserve(cluster.nodes.size());
  for (int node = 0; node < nodes; ++node) {
    slots_.push_back({.machine = Machine(xids_, is_lemon[node]), .is_lemon = is_lemon[node]});
    const int weight = is_lemon[node] ? static_cast<int>(kLemonFactor) : 1;
    draw_.insert(draw_.end(), static_cast<size_t>(weight), node);
  }
}

void Machines::begin(Fleet& fleet, Failures failures) {
  fleet_ = &fleet;
  failures_ = std::move(failures);
  if (!failures_.is_empty()) return next_outage();
  for (const FaultKind& kind : fault_kinds()) arm_kind(kind);
  arm_bursts();
  arm_leaf_outages();
}

// Exponential, as of events that know nothing of each other.
Duration Machines::gap(double per_year) {
  const double share = static_cast<double>(slots_.size()) / kNodesOfFireFlyer;
  const double mean = static_cast<double>(kYear.count()) / (per_year * share);
  return Duration(static_cast<int64_t>(-std::log(1 - rng_.unit()) * mean) + 1);
}

Duration Machines::between(Duration low, Duration high) {
  return Duration(rng_.between(low.count(), high.count()));
}

int Machines::draw_node() {
  for (;;) {
    const int node = rng_.pick(draw_);
    // A lemon that was mended is as rare in the draw as any other.
    if (!slots_[node].is_lemon || machine(node).is_lemon()) return node;
    if (rng_.chance(1 / kLemonFactor)) return node;
  }
}

// A program's own faults need a program; -1 if none is found soon.
int Machines::draw_node_with_program() {
  for (int tries = 0; tries < 20; ++tries) {
    const auto node = static_cast<int>(rng_.below(slots_.size()));
    if (!fleet_->is_connected(node)) continue;
    const std::vector<int> jobs = fleet_->jobs_on(node, {});
    // The long job's program has been run before: it does not fail by itself.
    if (!jobs.empty() && jobs.front() != 0) return node;
  }
  return -1;
}

void Machines::changed(int node) {
  if (fleet_->is_connected(node)) fleet_->checks_changed(node);
}

void Machines::changed_after(int node, Duration delay) {
  loop_.call_after(delay, [this, node] { changed(node); });
}

void Machines::note_runs(int node, GpuSet gpus) {
  for (int job : fleet_->jobs_on(node, gpus)) fails_(job, false);
}

void Machines::fail_programs(int node, GpuSet gpus, Duration after) {
  note_runs(node, gpus);
  loop_.call_after(after, [this, node, gpus] {
    if (fleet_->is_connected(node)) fleet_->fail_programs(node, gpus, 1);
  });
}

// ---- faults of one node

void Machines::arm_kind(const FaultKind& kind) {
  loop_.call_after(gap(kind.per_year), [this, &kind] {
    const int node = kind.is_programs ? draw_node_with_program() : draw_node();
    if (node >= 0 && fleet_->is_connected(node)) strike(kind, node);
    arm_kind(kind);
  });
}

void Machines::strike(const FaultKind& kind, int node) {
  ++(kind.xid == 74          ? counts_.xid_74
     : kind.is_programs      ? counts_.of_programs
     : kind.is_crash         ? counts_.crashes
     : kind.name == "silent" ? counts_.silent
                             : counts_.other);
  double draw = rng_.unit();
  Defect defect = Defect::none;
  for (const auto& [chance, each] :
       {std::pair(kind.needs_reset, Defect::reset), std::pair(kind.needs_reboot, Defect::reboot),
        std::pair(kind.needs_service, Defect::service)}) {
    if (draw >= 0 && draw < chance) defect = each;
    draw -= chance;
  }
  if (kind.is_crash) return crash(node, defect != Defect::service);
  const auto gpu = static_cast<int>(rng_.below(static_cast<uint64_t>(cluster_.gpus_per_node)));
  const GpuSet gpus = kind.xid == 0 ? GpuSet{} : GpuSet{uint64_t{1} << gpu};
  Machine& machine = slots_[node].machine;
  machine.strike(kind, gpu, defect, loop_.wall_now());
  changed_after(node, kSeen);
  if (kind.is_programs || kind.xid == 69) changed_after(node, FaultLedger::kStands + 1min);
  if (kind.is_programs) {
    for (int job : fleet_->jobs_on(node, gpus)) fails_(job, true);
    loop_.call_after(1s, [this, node, gpus] { fleet_->fail_programs(node, gpus, 1); });
  } else if (rng_.chance(kind.kills)) {
    fail_programs(node, gpus, between(0s, 20s));
  } else if (kind.tier == HealthTier::evict) {
    note_runs(node, gpus);
  }
  if (machine.fails_unseen()) strike_unseen_again(node, kind);
}

// Until somebody finds it, it fails under whatever runs there.
void Machines::strike_unseen_again(int node, const FaultKind& kind) {
  loop_.call_after(between(kUnseenGap / 4, kUnseenGap * 7 / 4), [this, node, &kind] {
    if (!machine(node).fails_unseen()) return;
    if (kind.xid != 0 && fleet_->is_connected(node) && !fleet_->jobs_on(node, {}).empty()) {
      const auto gpu = 0;
      slots_[node].machine.strike(kind, gpu, Defect::none, loop_.wall_now());
      changed_after(node, kSeen);
      fail_programs(node, GpuSet{1}, between(0s, 20s));
    }
    strike_unseen_again(node, kind);
  });
}

void Machines::crash(int node, bool comes_back) {
  note_runs(node, {});
  fleet_->crash_node(node);
  slots_[node].hook.reset();
  if (comes_back) {
    loop_.call_after(kReboot, [this, node] { boot(node); });
  } else {
    // Somebody has to go there; the server is not asked.
    loop_.call_after(between(2h, 24h), [this, node] { boot(node); });
  }
}

void Machines::boot(int node) {
  if (fleet_->is_connected(node) || slots_[node].is_out) return;
  slots_[node].machine.reboot(rng_);
  slots_[node].hook.reset();
  slots_[node].hook_under_way = 0;
  fleet_->boot_node(node, "boot-" + std::to_string(++slots_[node].boots));
}

// ---- the network

void Machines::arm_bursts() {
  loop_.call_after(gap(kCutsPerYear / kCutsOfBurst), [this] {
    burst();
    arm_bursts();
  });
}

void Machines::burst() {
  const double more = 1 - 1 / kCutsOfBurst;
  do {
    loop_.call_after(between(0s, 12h), [this] {
      const int node = draw_node();
      ++counts_.link_cuts;
      if (rng_.chance(kCutStays)) {
        slots_[node].machine.break_link();
        return cut_link(node, kYear * 100, true);
      }
      const bool is_long = rng_.chance(kCutIsLong);
      const Duration down = is_long ? between(30s, 60s) : between(5s, 25s);
      cut_link(node, down, is_long || rng_.chance(kShortCutKills));
    });
  } while (rng_.chance(more));
}

void Machines::cut_link(int node, Duration down, bool kills) {
  Machine& machine = slots_[node].machine;
  if (machine.is_link_down() || !fleet_->is_connected(node)) return;
  machine.cut_link(loop_.wall_now());
  changed(node);
  if (kills) fail_programs(node, {}, between(5s, 25s));
  if (down >= Machine::kDownFails) changed_after(node, Machine::kDownFails);
  changed_after(node, Machine::kFlapWindow + 1s);
  if (down > kYear) return;
  loop_.call_after(down, [this, node] {
    slots_[node].machine.heal_link();
    changed(node);
  });
}

void Machines::arm_leaf_outages() {
  loop_.call_after(gap(kLeafOutagesPerYear), [this] {
    leaf_outage();
    arm_leaf_outages();
  });
}

// A leaf switch: every node of it loses its link at once, and has it again at once.
void Machines::leaf_outage() {
  ++counts_.leaf_outages;
  const NodeFacts& chosen = cluster_.nodes[rng_.below(slots_.size())];
  const Duration down = between(10min, 60min);
  for (size_t node = 0; node < slots_.size(); ++node) {
    const NodeFacts& facts = cluster_.nodes[node];
    if (facts.zone == chosen.zone && facts.leaf == chosen.leaf)
      cut_link(static_cast<int>(node), down, true);
  }
}

// ---- outages of a file

void Machines::next_outage() {
  Outage outage = failures_.next();
  const Duration now = loop_.now().time_since_epoch();
  loop_.call_after(std::max(Duration{0}, outage.start - now), [this, outage] {
    begin_outage(outage);
    next_outage();
  });
}

// What cannot answer is silent; of the others a check tells.
void Machines::begin_outage(const Outage& outage) {
  const int node = outage.node;
  if (slots_[node].is_out) return;
  slots_[node].is_out = true;
  ++counts_.outages;
  const std::string& why = outage.reason;
  const auto says = [&](std::string_view word) { return why.find(word) != std::string::npos; };
  slots_[node].machine.take_out(says("NIC") || says("Link") || says("Gid") ? "ib_adapter_state"
                                : says("FS")                               ? "disk_stuck"
                                                                           : "gpu_state",
                                loop_.wall_now());
  if (says("Server down") || says("Panic") || says("Power Supply") || says("Motherboard")) {
    crash(node, false);
  } else {
    changed(node);
    fail_programs(node, {}, between(0s, 20s));
  }
  const Duration left = outage.end - loop_.now().time_since_epoch();
  loop_.call_after(std::max(Duration{1}, left), [this, node] { end_outage(node); });
}

void Machines::end_outage(int node) {
  slots_[node].is_out = false;
  slots_[node].machine.repaired();
  if (fleet_->is_connected(node)) return changed(node);
  boot(node);
}

// ---- what agents are told

std::vector<CheckResult> Machines::checks(int node) {
  return slots_[node].machine.checks(loop_.wall_now());
}

void Machines::run_hook(int node, const RunHook& order) {
  Slot& slot = slots_[node];
  if (slot.hook_under_way == order.id || (slot.hook && slot.hook->id == order.id)) return;
  slot.hook_under_way = order.id;
  if (order.action == HookAction::reboot) {
    loop_.call_after(kShutdown, [this, node] {
      fleet_->crash_node(node);
      loop_.call_after(kReboot, [this, node] { boot(node); });
    });
    return;
  }
  loop_.call_after(kReset, [this, node, id = order.id] {
    Slot& done = slots_[node];
    if (done.hook_under_way != id) return;
    done.machine.reset_gpus(rng_);
    done.hook = HookResult{id, 0, ""};
    changed(node);
  });
}

void Machines::clear_fault(int node, const ClearFault& order) {
  slots_[node].machine.clear(order);
  changed(node);
}

ValidationRun Machines::validate(int node) { return slots_[node].machine.validate(rng_); }

void Machines::service(int node, bool is_known_lemon) {
  slots_[node].machine.service(is_known_lemon);
  changed(node);
}

bool Machines::has_cause(int node) const {
  const Machine& it = machine(node);
  return it.is_broken() || it.is_lemon() || it.is_link_down() || !fleet_->is_connected(node);
}

int Machines::lemons() const {
  return static_cast<int>(std::ranges::count_if(slots_, [](const Slot& s) { return s.is_lemon; }));
}

}  // namespace hai
