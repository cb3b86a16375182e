#pragma once
// One thing a fault does to the world, at once: crash, start, cut, slow down. A random fault
// (sim/faults.h) is a few of them over time; a world told in full (sim/world_plan.h) lists them.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/rng.h"
#include "sim/world.h"

namespace hai {

enum class DeedKind {
  server_crash,
  server_start,
  server_pause,  // for `time`
  servers_away,  // none starts for `time`
  agent_crash,
  agent_start,
  agent_pause,  // for `time`
  impostor,     // a second agent under the node's name, for `time`
  node_crash,
  shim_crash,
  record_unwritable,
  record_writable,
  record_lost,
  cut,              // for `time`; a: SimNetwork::Cut, b: island, 0 = the servers' own
  store_fails,      // for `time`; a: requests in a million
  store_slow,       // for `time`
  store_down,       // for `time`
  store_breaks,     // every session: a failover
  store_goes_back,  // by a transactions
  clock,            // of a machine (servers first), wrong by a microseconds for `time`
  check_fails,      // a: index of the check, b: GPU
  check_mends,      // a: index of the check
};
constexpr int kDeedKinds = static_cast<int>(DeedKind::check_mends) + 1;
std::string_view to_string(DeedKind kind);

struct Deed {
  DeedKind kind = DeedKind::server_crash;
  int target = 0;  // a node, server or machine by index; nothing to the store
  Duration time{0};
  int64_t a = 0;
  int64_t b = 0;
  bool operator==(const Deed&) const = default;
};
// "agent_crash node-3", "cut node-2 for 12.5s, both directions": for people.
std::string told(const Deed& deed, const World& world);
// How many targets the kind has: nodes, servers, machines, or 1.
int targets_of(DeedKind kind, const World& world);
int count_of_checks();
bool check_has_gpu(int check);
bool check_is_latched(int check);  // stays until it is cleared

// Does them, and what the store does to each request under them.
class Deeds {
 public:
  // `own` is drawn from for the store's requests.
  Deeds(World& world, Rng& own);

  void now(const Deed& deed);
  void after(Duration delay, const Deed& deed) {
    loop_.call_after(delay, [this, deed] { now(deed); });
  }
  // Ends every one and starts everything that is down.
  void heal();
  std::function<void(const Deed&)> on_deed;  // told of each, before it is done
  // What a request takes at most: while the store is slow, and else.
  static constexpr Duration kSlowest = 90s;
  static constexpr Duration kSlow = 2s;

  bool store_is_ill() const { return time() < std::max(store_down_until_, store_failing_until_); }
  bool store_is_slow() const { return time() < store_slow_until_; }

 private:
  void hook_store();
  Duration request_time(Rng& rng) const;
  void start_server(int index);
  void impostor(const Deed& deed);
  void cut(const Deed& deed);
  void jump_clock(const Deed& deed);
  MonoTime time() const { return world_.timeline().now(); }

  World& world_;
  Rng& own_;
  VirtualLoop loop_;
  MonoTime servers_away_until_{};
  MonoTime store_down_until_{};
  MonoTime store_failing_until_{};
  double store_failure_rate_ = 0;
  MonoTime store_slow_until_{};
  std::vector<int> skew_id_;  // of each machine's last jump
};

}  // namespace hai
