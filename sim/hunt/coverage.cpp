#include "sim/hunt/coverage.h"

#include <algorithm>

namespace hai {
namespace {

constexpr Duration kAround = 15s;  // a fault has to do with what follows within it

// Once, a few times, often: finer steps make nearly every world a new one.
uint8_t step_of(uint16_t count) { return count == 1 ? 1 : count < 16 ? 2 : 4; }

uint64_t mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

int64_t few(size_t count) { return static_cast<int64_t>(std::min<size_t>(count, 2)); }

// What the servers know of a job, without its name.
uint64_t state_of(const Job& job) {
  uint64_t bits = static_cast<uint64_t>(job.state);
  auto add = [&](int64_t value, int values) { bits = bits * values + value; };
  add(job.attempt ? 1 + static_cast<int>(job.attempt->state) : 0, 12);
  add(job.reservation.has_value(), 2);
  add(job.stop_requested, 2);
  add(job.held, 2);
  add(few(job.attempt ? job.attempt->ranks.size() : 0), 3);
  add(few(job.counters.requeue_count), 3);
  return bits;
}

}  // namespace

void Coverage::hit(uint64_t kind, uint64_t one, uint64_t two, uint64_t three) {
  const uint64_t hash = mixed(mixed(mixed(kind * 0x9e3779b97f4a7c15u + one) + two) + three);
  uint16_t& count = counts_[hash % kSize];
  if (count < UINT16_MAX) ++count;
}

uint64_t Coverage::state_of(int index, World& world) const {
  uint64_t bits = 0;
  auto add = [&](int64_t value, int values) { bits = bits * values + value; };
  Controller* leader = world.leader();
  add(leader != nullptr, 2);
  if (index < 0) return bits;
  const std::string& name = world.node_name(index);
  const bool runs = world.agent_runs(index);
  add(runs ? 1 + world.agent_is_paused(index) : 0, 3);
  add(runs && world.agent_loop(index).now() < world.agent(index).lease_until(), 2);
  add(few(world.node(index).live_processes()), 3);
  add(world.network().reaches_servers(name), 2);
  add(world.network().hears_servers(name), 2);
  add(world.node(index).record.has_value(), 2);
  if (leader == nullptr) return bits;
  for (const auto& [id, node] : leader->state().nodes()) {
    if (node.facts.name != name) continue;
    add(1 + static_cast<int>(node.liveness), 4);
    add(static_cast<int>(node.scheduling), 4);
    add(!node.held.empty(), 2);
  }
  return bits;
}

uint64_t Coverage::faults_around(const World& world) const {
  uint64_t bits = 0;
  for (const Done& done : last_deeds_) {
    const bool is_near = done.at != MonoTime{} && world.timeline().now() - done.at < kAround;
    bits = bits * (kDeedKinds + 1) + (is_near ? 1 + static_cast<uint64_t>(done.kind) : 0);
  }
  return bits;
}

void Coverage::see(const Deed& deed, const World& world) {
  if (last_deeds_[0].kind != deed.kind) last_deeds_[1] = last_deeds_[0];
  last_deeds_[0] = {deed.kind, world.timeline().now()};
}

void Coverage::see(const Moment& moment, World& world) {
  const auto point = static_cast<uint64_t>(moment.point);
  const auto last = static_cast<uint64_t>(last_point_[moment.node]);
  last_point_[moment.node] = moment.point;
  hit(1, point, state_of(moment.node, world), moment.is_overtaken);
  hit(2, point, last, moment.is_overtaken);
  hit(3, point, faults_around(world), 0);
  if (moment.event == nullptr) return;
  const JobId id = job_of(moment.event->body);
  Controller* leader = world.leader();
  const Job* job = leader == nullptr || !id ? nullptr : leader->state().find(id);
  if (job == nullptr) return;
  uint64_t& before = last_of_job_[id.value];
  hit(4, point, before, hai::state_of(*job));
  before = point;
}

int Reached::add(const Coverage& world) {
  constexpr int kNew = 4;  // a pair that none reached, against one that none reached so often
  int fresh = 0;
  for (size_t i = 0; i < Coverage::kSize; ++i) {
    const uint16_t count = world.counts()[i];
    if (count == 0) continue;
    const uint8_t step = step_of(count);
    if ((steps_[i] & step) != 0) continue;
    pairs_ += steps_[i] == 0;
    steps_[i] |= step;
    fresh += steps_[i] == step ? kNew : 1;
  }
  return fresh;
}

}  // namespace hai
