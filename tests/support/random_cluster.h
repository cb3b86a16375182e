#pragma once
// Random but valid histories: every event fits the state it meets, as if a server had decided it.
// For tests of whatever keeps, carries or replays events.

#include <string>
#include <vector>

#include "common/rng.h"
#include "server/control/ports.h"

namespace hai::test {

struct RandomClusterOptions {
  int nodes = 6;
  int gpus = 8;
  bool odd_text = true;  // quotes, backslashes, control characters, all of Unicode
};

class RandomCluster {
 public:
  explicit RandomCluster(uint64_t seed, RandomClusterOptions options = {});
  // Goes on from a state that was loaded.
  RandomCluster(uint64_t seed, ClusterState state, RandomClusterOptions options = {});

  const ClusterState& state() const { return state_; }

  // A new leader, in a batch of its own.
  AppendBatch start_epoch(Epoch epoch);
  // `events` random events and the rows they changed.
  AppendBatch next_batch(Epoch epoch, int events);
  // `count` submits in one batch.
  AppendBatch submit_jobs(Epoch epoch, int count);

 private:
  void emit(EventBody body);
  AppendBatch take_batch(Epoch epoch);
  // One random event, if one of the kind drawn is possible now.
  void step();
  void change_people();
  void change_nodes();
  void change_incidents();
  void change_health(NodeId node);
  std::vector<NodeId> some_nodes();
  void submit();
  void change_job(const Job& job);
  void change_array(const Job& job);
  void change_waiting(const Job& job);
  void change_live(const Job& job);
  void end_rank(const Job& job);

  Placement random_placement(const Job& job);
  JobSpec random_spec();
  std::string text();
  std::string name(const char* prefix, int count);
  std::string odd_name(const char* prefix, int count);
  UnixTime time() { return unix_micros(now_); }
  std::optional<UnixTime> maybe_time() {
    return rng_.chance(0.5) ? std::optional(time()) : std::nullopt;
  }
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[rng_.below(values.size())];
  }

  Rng rng_;
  RandomClusterOptions options_;
  ClusterState state_;
  std::vector<Event> events_;
  int64_t now_ = 1'790'000'000'000'000;
  int64_t names_ = 0;
};

}  // namespace hai::test
