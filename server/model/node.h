#pragma once
// A node as the server knows it: what its agent said of itself, whether it answers, whether it
// takes jobs, and who uses or is promised its GPUs.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/agent_messages.h"
#include "common/gpu_set.h"
#include "common/id.h"
#include "common/time.h"
#include "server/model/host_share.h"
#include "server/model/node_health.h"
#include "server/model/states.h"

namespace hai {

// Who may use a node, and which others it is near to: of its facts those that an administrator may
// set in place of what its agent's config says.
struct NodePosition {
  std::string group;
  std::string zone;
  std::string leaf;
  std::vector<std::string> labels;
  bool operator==(const NodePosition&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("group", self.group);
    visit("zone", self.zone);
    visit("leaf", self.leaf);
    visit("labels", self.labels);
  }
};
NodePosition position_of(const NodeFacts& facts);

// nullopt: as the agent says.
struct NodeSettings {
  std::optional<std::string> group = {};
  std::optional<std::string> zone = {};
  std::optional<std::string> leaf = {};
  std::optional<std::vector<std::string>> labels = {};
  bool operator==(const NodeSettings&) const = default;
  bool is_empty() const { return *this == NodeSettings{}; }
  // "group debug, labels fast-disk and ib"; "" if nothing is set.
  std::string text() const;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("group", self.group);
    visit("zone", self.zone);
    visit("leaf", self.leaf);
    visit("labels", self.labels);
  }
};
// What holds of both.
NodePosition settled(const NodePosition& told, const NodeSettings& settings);

// A rank of a live attempt on this node.
struct Occupant {
  JobId job;
  int rank = 0;
  GpuSet gpus;
  HostAsk ask;
  bool operator==(const Occupant&) const = default;
};

// GPUs, CPUs and memory held for a job that waits for their users to leave.
struct Held {
  JobId job;
  GpuSet gpus;
  HostAsk ask;
  bool operator==(const Held&) const = default;
};

// Whom the node asks before it ends its ranks when its lease has ended. A list that was named and
// not yet confirmed may or may not have reached it, so both count.
struct NodePeers {
  int64_t version = 0;  // of the latest list named, 0 = none yet
  std::vector<NodeId> confirmed;
  std::optional<std::vector<NodeId>> named;
  // While a list is named, the next one waits until it is confirmed. Unless the node goes by a list
  // above it, of a history that the store has lost: then it will never take the one named.
  bool may_be_followed_by(int64_t next) const { return next > version + (named ? 1 : 0); }
  // Another agent has taken this peer's name. The node still asks the old one, at its address,
  // whose answers nothing is known of: NodeId{} stands for it, and is never a witness.
  bool asks(NodeId peer) const;
  void peer_was_replaced(NodeId peer);
  bool operator==(const NodePeers&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("version", self.version);
    visit("confirmed", self.confirmed);
    visit("named", self.named);
  }
};

// Why a node is suspect from the beginning of an epoch until its first report.
inline constexpr std::string_view kNotHeardOf = "not heard of since the server started";

struct Node {
  NodeId id;
  NodeFacts facts;        // with what is set in place of what was told
  NodePosition told;      // by its agent; without a group: in a version that did not note it
  NodeSettings set = {};  // by an administrator
  Liveness liveness = Liveness::up;
  std::string liveness_reason;
  Scheduling scheduling = Scheduling::open;
  std::string scheduling_reason;
  std::string scheduling_by;
  std::optional<UnixTime> drain_at;  // only if cordoned: what runs may run until then
  NodePeers peers;
  NodeHealth health;
  // Taken out of the cluster, while it was down. What its jobs were is still to be told.
  std::optional<UnixTime> removed_at;

  // Derived from the jobs; not stored.
  std::vector<Occupant> occupants;
  std::vector<Held> held;

  // As its agent said them last.
  NodeFacts told_facts() const;
  // Notes what its agent has told, or what is to hold in place of that.
  void take_facts(const NodeFacts& told_facts);
  void take_settings(const NodeSettings& settings);

  GpuSet all_gpus() const { return GpuSet::first(facts.gpus); }
  GpuSet used_gpus() const;
  GpuSet held_gpus() const;
  GpuSet held_gpus_for_others(JobId job) const;
  // Neither used nor held for a job other than `job`.
  GpuSet free_gpus(JobId job = {}) const;
  // CPUs and memory that those who are here take.
  HostParts used_host() const;
  // Whether a rank with these GPUs would find its CPUs and memory now, if others took so much more.
  bool has_host_now(GpuSet gpus, HostAsk ask, HostParts others = {}) const;
  bool takes_jobs() const { return liveness == Liveness::up && scheduling == Scheduling::open; }
  bool operator==(const Node&) const = default;

  // What is stored.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    // Names all members, so that one that is added and not listed below is an error here.
    auto& [id, facts, told, set, liveness, liveness_reason, scheduling, scheduling_reason,
           scheduling_by, drain_at, peers, health, removed_at, occupants, held] = self;
    (void)occupants, (void)held;  // They follow from the jobs.
    visit("id", id);
    visit("facts", facts);
    visit("told", told);
    visit("set", set);
    visit("liveness", liveness);
    visit("liveness_reason", liveness_reason);
    visit("scheduling", scheduling);
    visit("scheduling_reason", scheduling_reason);
    visit("scheduling_by", scheduling_by);
    visit("drain_at", drain_at);
    visit("peers", peers);
    visit("health", health);
    visit("removed_at", removed_at);
  }
};

}  // namespace hai
