#include "sim/needless_kills.h"

#include <fmt/core.h>

#include "server/control/nodes/fencing.h"
#include "sim/world.h"

namespace hai {
namespace {

// Questions and answers of one round come in time, and none is lost.
bool is_reliable(const NetworkModel& model) {
  return model.loss == 0 && model.reordering == 0 && 4 * model.delay_max < 1s;
}

}  // namespace

void NeedlessKills::sample() {
  since_.resize(world_.node_count());
  was_alive_.resize(world_.node_count());
  for (int i = 0; i < world_.node_count(); ++i) {
    const bool is_alive =
        world_.agent_runs(i) && world_.agent_loop(i).now() < world_.agent(i).lease_until();
    // Its peers are asked from the end of its lease on: what came before was no round.
    const bool begins_to_ask = was_alive_[i] && !is_alive;
    was_alive_[i] = is_alive;
    if (!must_live_on(i)) {
      since_[i].reset();
    } else if (!since_[i] || begins_to_ask) {
      since_[i] = world_.timeline().now();
    }
  }
}

bool NeedlessKills::must_live_on(int index) const {
  // Ranks under this name may be an impostor's, whose lease and peers are not the node's.
  if (world_.impostor_runs(index)) return false;
  if (!world_.agent_runs(index) || world_.agent_is_paused(index)) return false;
  const auto is_dead = [&](int node) {
    return world_.agent_loop(node).now() >= world_.agent(node).lease_until();
  };
  const SimNode& node = world_.node(index);
  if (!is_dead(index)) return true;
  if (!node.record || !node.record_is_writable) return false;
  int answer_dead = 0;
  for (const Peer& peer : node.record->peers.peers) {
    const int other = world_.index_of(peer.node);
    if (world_.impostor_runs(other)) return false;  // it may have a live lease
    if (!world_.agent_runs(other)) continue;
    if (!is_dead(other)) return false;
    // Where an impostor has answered, the node's own agent does not.
    const bool is_its_own = peer.address == world_.node(other).facts().address;
    answer_dead += is_its_own && !world_.agent_is_paused(other) &&
                   world_.network().reach_each_other(node.facts().name, peer.node) &&
                   world_.agent(other).lease_until() != MonoTime{};
  }
  return answer_dead >= majority_of(static_cast<int>(node.record->peers.peers.size()));
}

std::optional<std::string> NeedlessKills::judge(int node) const {
  const Knobs& knobs = world_.knobs();
  // A round that begins at once and the one before it; of an unreliable network's, nearly all that
  // fit between two fences.
  const Duration needed =
      is_reliable(world_.network().model) ? 2 * 1s + 2 * kPeriod : fence_after(knobs) - 2s;
  if (node >= static_cast<int>(since_.size()) || !since_[node]) return std::nullopt;
  const Duration asked = world_.timeline().now() - *since_[node];
  if (asked < needed) return std::nullopt;
  return fmt::format(
      "for {} its lease was alive, or a majority of its peers could say that nobody "
      "leads and none could say else",
      format_duration(std::chrono::duration_cast<std::chrono::seconds>(asked)));
}

}  // namespace hai
