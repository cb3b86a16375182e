#pragma once
// Small clusters and jobs for tests, in the words of the design:
//   Cluster c = cluster(nodes(4, gpus(8)));
//   JobId low = c.run(job("low").nodes(2).priority(Priority::low), {"node-1", "node-2"});
// Every state is built from real events, so that no test stands on one that cannot happen. Nodes
// are node-1, node-2, … in group training; ann is an admin and everybody has unlimited quota until
// a test says otherwise.

#include <string>
#include <vector>

#include "common/knobs.h"
#include "server/control/verbs/decide.h"
#include "server/plan/planner.h"

namespace hai::test {

struct Gpus {
  int count = 0;
};
inline Gpus gpus(int count) { return {count}; }

class NodesBuilder {
 public:
  NodesBuilder(int count, Gpus gpus) : count_(count) { facts_.gpus = gpus.count; }
  NodesBuilder& group(std::string name) { return facts_.group = std::move(name), *this; }
  NodesBuilder& zone(std::string name) { return facts_.zone = std::move(name), *this; }
  NodesBuilder& leaf(std::string name) { return facts_.leaf = std::move(name), *this; }
  NodesBuilder& gpu_model(std::string name) { return facts_.gpu_model = std::move(name), *this; }
  NodesBuilder& label(std::string name) { return facts_.labels.push_back(std::move(name)), *this; }
  NodesBuilder& cpus(int count) { return facts_.cpus = count, *this; }
  NodesBuilder& memory_gib(int64_t size) { return facts_.memory_bytes = size << 30, *this; }

  int count() const { return count_; }
  // Of the node with this number, from 1.
  NodeFacts facts(int number) const;

 private:
  int count_;
  NodeFacts facts_{.group = "training", .zone = "A", .leaf = "leaf-1", .cpus = 64};
};
inline NodesBuilder nodes(int count, Gpus gpus) { return {count, gpus}; }

class JobBuilder {
 public:
  explicit JobBuilder(std::string name);
  JobBuilder& named(std::string name) { return spec_.name = std::move(name), *this; }
  JobBuilder& user(std::string name) { return user_ = std::move(name), *this; }
  JobBuilder& request(std::string id) { return request_id_ = std::move(id), *this; }
  JobBuilder& nodes(int count) { return spec_.node_count = count, *this; }
  JobBuilder& gpus(int per_node) { return spec_.gpus_per_node = per_node, *this; }
  JobBuilder& cpus(int per_node) { return spec_.cpus_per_node = per_node, *this; }
  JobBuilder& memory_gib(int64_t size) { return spec_.memory_per_node_bytes = size << 30, *this; }
  JobBuilder& array(std::string range) { return spec_.array = std::move(range), *this; }
  JobBuilder& gpu_type(std::string type) {
    return spec_.node_filter.gpu_type = std::move(type), *this;
  }
  JobBuilder& label(std::string name) {
    return spec_.node_filter.labels.push_back(std::move(name)), *this;
  }
  JobBuilder& only_on(std::string list) { return spec_.node_filter.nodes = std::move(list), *this; }
  JobBuilder& not_on(std::string list) {
    return spec_.node_filter.exclude = std::move(list), *this;
  }
  JobBuilder& priority(Priority level) { return spec_.priority = level, *this; }
  JobBuilder& group(std::string name) { return spec_.group = std::move(name), *this; }
  JobBuilder& zone(std::string name) { return spec_.zone = std::move(name), *this; }
  JobBuilder& max_leaves(int count) { return spec_.max_leaves = count, *this; }
  JobBuilder& cross_zone(CrossZone value) { return spec_.cross_zone = value, *this; }
  JobBuilder& shared_in_group() { return spec_.is_shared_in_group = true, *this; }
  JobBuilder& release_early() { return spec_.releases_early = true, *this; }
  JobBuilder& interactive() { return spec_.is_interactive = true, *this; }
  JobBuilder& grace(Duration time) { return spec_.suspend.grace = time, *this; }
  JobBuilder& signal(std::string name) { return spec_.suspend.signal = std::move(name), *this; }
  JobBuilder& restart(int max) { return spec_.restart = {.on_failure = true, .max = max}, *this; }
  JobBuilder& image(std::string name) { return spec_.image = std::move(name), *this; }
  JobBuilder& timeout(Duration time) { return spec_.timeout = time, *this; }
  JobBuilder& begin_at(UnixTime time) { return spec_.begin_at = time, *this; }
  JobBuilder& environment(std::string name, std::string value) {
    return spec_.environments[std::move(name)] = std::move(value), *this;
  }
  JobBuilder& depends_on(std::string job) { return spec_.depends_on.push_back(job), *this; }

  const JobSpec& spec() const { return spec_; }
  const std::string& user() const { return user_; }
  const std::string& request_id() const { return request_id_; }

 private:
  JobSpec spec_;
  std::string user_ = "ann";
  std::string request_id_;
};
inline JobBuilder job(std::string name) { return JobBuilder(std::move(name)); }

class Cluster {
 public:
  explicit Cluster(const std::vector<NodesBuilder>& parts);

  Knobs knobs;
  UnixTime now = unix_micros(1'000'000'000'000'000);

  const ClusterState& state() const { return state_; }
  const Job& job(JobId id) const;
  const Attempt& attempt(JobId id) const { return *job(id).attempt; }
  const Node& node(const std::string& name) const;
  NodeId node_id(const std::string& name) const { return node(name).id; }
  const std::vector<Event>& events() const { return events_; }

  Cluster& advance(Duration time) { return now += time, *this; }
  // As of jobs that have left memory.
  Cluster& forget_finished() { return state_.evict_finished(0), *this; }
  void emit(EventBody body, const std::string& actor = "test");
  // Runs decide code; its events are kept.
  template <typename Run>
  auto decide_with(Run&& run) {
    Decision decision(state_, knobs, now);
    struct Keep {
      Cluster& cluster;
      Decision& decision;
      ~Keep() {
        for (Event& event : decision.take_events()) cluster.events_.push_back(std::move(event));
      }
    } keep{*this, decision};
    return run(decision);
  }
  Result<CommandReply> decide(const Command& command, const std::string& user = "ann");

  Cluster& add_user(const std::string& name, std::vector<std::string> groups = {},
                    Role role = Role::user);
  Cluster& set_quota(const std::string& owner, const std::string& group, Priority level,
                     int64_t nodes);
  Cluster& clear_quotas();
  Cluster& set_liveness(const std::string& node, Liveness liveness);
  Cluster& set_scheduling(const std::string& node, Scheduling scheduling);

  JobId submit(const JobBuilder& job);
  // Whole nodes, or these GPUs of each.
  Placement on(const std::vector<std::string>& names, GpuSet gpus = {}) const;
  // Submitted and placed, or running, at its own priority (auto: low).
  JobId place(const JobBuilder& job, const std::vector<std::string>& names, GpuSet gpus = {});
  JobId run(const JobBuilder& job, const std::vector<std::string>& names, GpuSet gpus = {});
  void place(JobId id, Placement placement);
  // Every rank of a placed attempt confirms its launch.
  void confirm(JobId id);
  void checkpoint(JobId id, Duration ago, double save_seconds = 0);
  // Every rank that is left goes, and with it the attempt.
  void leave(JobId id, AttemptState outcome = AttemptState::suspended);
  void finish(JobId id, JobState state = JobState::succeeded);

  // What a planner that follows the cluster has to look at.
  Changes take_changes() { return state_.take_changes(); }
  Plan plan() const { return hai::plan(state_, knobs, now); }
  // One pass, made true.
  Plan pass();

 private:
  ClusterState state_;
  std::vector<Event> events_;
};

template <typename... Parts>
Cluster cluster(const Parts&... parts) {
  return Cluster({parts...});
}

// "node-1,node-2", by rank; with GPUs ("node-1[0,1]") where they are not all of the node's.
std::string to_text(const ClusterState& state, const Placement& placement);

}  // namespace hai::test
