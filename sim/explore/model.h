#pragma once
// A small cluster whose every interleaving is visited, and how much may go wrong in it. The bounds
// are what makes the space finite: so many faults of each kind, each for so long.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/knobs.h"

namespace hai {

enum class Fault {
  hold,           // a message is late: what was sent after it may arrive before
  lose,           // a message never arrives
  repeat,         // a message arrives, and a copy of it later
  pause_agent,    // SIGSTOP; its shims go on
  restart_agent,  // kill -9 and a new process; record, shims and programs stay
  cut,            // nothing passes between a node and the servers
  part,           // nothing passes between a node and its peers
  break_stream,   // both ends notice, the agent dials again
  pause_server,   // SIGSTOP of the leader
  crash_server,   // kill -9 of the leader
  slip_clock,     // a node's monotonic clock loses `slip`
  stop_job,       // a user stops the job
  end_program,    // a program ends by itself
};
inline constexpr size_t kFaults = 13;
std::string_view to_string(Fault fault);

// How many of each kind may still happen.
class Budget {
 public:
  static constexpr int kMax = 15;

  int of(Fault fault) const { return counts_[static_cast<size_t>(fault)]; }
  bool has(Fault fault) const { return of(fault) > 0; }
  bool is_spent() const { return counts_ == decltype(counts_){}; }
  void set(Fault fault, int count) {
    counts_[static_cast<size_t>(fault)] = static_cast<uint8_t>(count);
  }
  void spend(Fault fault) { --counts_[static_cast<size_t>(fault)]; }
  // Four bits of each kind.
  uint64_t packed() const {
    uint64_t packed = 0;
    for (const uint8_t count : counts_) packed = packed << 4 | count;
    return packed;
  }

 private:
  std::array<uint8_t, kFaults> counts_{};
};

struct Model {
  std::string name;
  std::string about;
  int nodes = 3;
  int servers = 2;
  int roomy_nodes = 1;       // the first so many are of the job's group; the others only witness
  int ranks = 1;             // of the job, each on a node of its own
  int attempts = 3;          // of the job, beyond which nothing more goes wrong
  bool peer_news = false;    // questions of peers and their answers can be held and lost, too
  Duration stagger{0};       // between the heartbeats of one node and the next
  Duration fault_grid = 2s;  // what does not happen to a message begins and ends at multiples of it
  Duration late_max = 4s;    // of a message that is held
  Duration pause_max = 24s;  // of an agent, a server, a cut
  Duration slip = 1s;
  Duration liveness_max = 180s;  // from the healing of all to the job's end
  Knobs knobs;
  Budget budget;
};

// A heartbeat of 4 s, leases of 12 s and what follows from them; all times are whole seconds.
Knobs small_knobs();

// The models that `hai-sim explore` knows; together they cover the pairs of docs/operations/
// chaos-sim.md.
const std::vector<Model>& known_models();

}  // namespace hai
