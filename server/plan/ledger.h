#pragma once
// Users as a pass sees them: decayed GPU time, and quota used and free per (user, group, level). It
// caches what the state says and adds what the pass has given away so far.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/knobs.h"
#include "server/model/cluster_state.h"
#include "server/model/reason.h"

namespace hai {

// `auto` never rises above this level: beyond it a person has to ask (docs/design/0001).
inline constexpr Priority kAutoCeiling = Priority::normal;

// One user's quota in one node group.
class Room {
 public:
  Room(const ClusterState& state, const User& user, const std::string& group);

  bool has_room(Priority level, int64_t units) const;
  // The level a job would run at: its own, or for `auto` the highest with quota free; nullopt if
  // its quota is used up.
  std::optional<Priority> level_for(Priority asked, int64_t units) const;
  PendingReason reason(Priority asked, int64_t units) const;

  void refresh(const ClusterState& state);  // what live attempts use
  void use(Priority level, int64_t units) { extra_[index(level)] += units; }
  void forget_pass() { std::ranges::fill(extra_, 0); }

 private:
  static constexpr size_t kLevels = std::size(kPriorities);
  static size_t index(Priority level);

  std::string user_;
  std::string group_;
  int64_t nodes_[kLevels] = {};
  int64_t used_[kLevels] = {};
  int64_t extra_[kLevels] = {};
};

class Ledger {
 public:
  void rebuild(const ClusterState& state);
  // -1 if there is no such user.
  int find(const std::string& user) const;
  Room& room(const ClusterState& state, int person, const std::string& group);
  // Live attempts of the user in the group have changed.
  void refresh(const ClusterState& state, const std::string& user, const std::string& group);
  void refresh(const ClusterState& state);  // everybody
  void set_usage(int person, const GpuUsage& usage) { people_[person].usage = usage; }

  // GPU time of running attempts. Until its quantum is over an attempt counts as if it ran it all:
  // else whoever starts much at once would look poor until it has run.
  void add_flat(int person, int64_t gpu_seconds) { people_[person].flat += gpu_seconds; }
  void add_running(int person, int gpus, UnixTime since);
  void remove_running(int person, int gpus, UnixTime since);

  void begin_pass(const Knobs& knobs, UnixTime now);
  void end_pass();
  int64_t usage(int person) const;  // GPU seconds as of begin_pass, and what the pass has added
  // The pass starts an attempt.
  void charge(int person, int64_t gpu_seconds) { people_[person].charged += gpu_seconds; }
  void use(Room& room, Priority level, int64_t units);

 private:
  struct Person {
    std::string name;
    GpuUsage usage;
    int64_t flat = 0;
    int64_t gpus = 0;        // of running attempts beyond their quantum
    int64_t gpu_starts = 0;  // Σ gpus × (start − epoch base), seconds
    int64_t charged = 0;
  };

  std::vector<Person> people_;
  std::map<std::string, int, std::less<>> index_;
  std::map<std::pair<int, std::string>, Room> rooms_;
  std::vector<Room*> used_rooms_;
  Duration half_life_{1};
  UnixTime now_{};
  mutable std::vector<int64_t> cache_;
};

}  // namespace hai
