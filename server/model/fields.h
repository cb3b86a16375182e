#pragma once
// One list of fields per stored type. visit_fields(value, visit) calls visit("name", member) for
// each, whether the type has a static fields() or is a plain struct of common/. JSON and digests
// are visitors.

#include <type_traits>
#include <vector>

#include "common/agent_messages.h"
#include "common/job_spec.h"

namespace hai {

template <typename T>
struct ExternalFields;  // specialised for the structs of common/

template <>
struct ExternalFields<NodeFacts> {
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name);
    visit("group", self.group);
    visit("zone", self.zone);
    visit("leaf", self.leaf);
    visit("address", self.address);
    visit("gpus", self.gpus);
    visit("cpus", self.cpus);
    visit("memory_bytes", self.memory_bytes);
    visit("numa_nodes", self.numa_nodes);
    visit("gpu_model", self.gpu_model);
    visit("agent_version", self.agent_version);
    visit("boot_id", self.boot_id);
    visit("peer_port", self.peer_port);
    visit("instance", self.instance);
    visit("machine", self.machine);
    visit("labels", self.labels);
  }
};

template <>
struct ExternalFields<CheckKind> {
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("is_latched", self.is_latched);
    visit("is_shared", self.is_shared);
    visit("is_of_gpus", self.is_of_gpus);
    visit("cuts_network", self.cuts_network);
    visit("counts_cuts", self.counts_cuts);
  }
};

template <>
struct ExternalFields<CheckResult> {
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name);
    visit("subject", self.subject);
    visit("verdict", self.verdict);
    visit("tier", self.tier);
    visit("summary", self.summary);
    visit("evidence", self.evidence);
    visit("gpus", self.gpus);
    visit("at", self.at);
    visit("kind", self.said_kind);
  }
};

template <>
struct ExternalFields<CheckpointInfo> {
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("step", self.step);
    visit("path", self.path);
    visit("save_seconds", self.save_seconds);
    visit("at", self.at);
  }
};

template <>
struct ExternalFields<RankUsage> {
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("cpu_time", self.cpu_time);
    visit("peak_memory_bytes", self.peak_memory_bytes);
  }
};

template <>
struct ExternalFields<SuspendOptions> {
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("grace", self.grace);
    visit("signal", self.signal);
    visit("exit_code", self.exit_code);
  }
};

template <>
struct ExternalFields<RestartOptions> {
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("on_failure", self.on_failure);
    visit("max", self.max);
  }
};

template <>
struct ExternalFields<JobSpec> {
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name);
    visit("priority", self.priority);
    visit("array", self.array);
    visit("workspace", self.workspace);
    visit("entrypoint", self.entrypoint);
    visit("parameters", self.parameters);
    visit("environments", self.environments);
    visit("secrets", self.secrets);
    visit("group", self.group);
    visit("zone", self.zone);
    visit("node_count", self.node_count);
    visit("gpus_per_node", self.gpus_per_node);
    visit("cpus_per_node", self.cpus_per_node);
    visit("memory_per_node_bytes", self.memory_per_node_bytes);
    visit("node_filter", self.node_filter);
    visit("image", self.image);
    visit("launch", self.launch);
    visit("env_style", self.env_style);
    visit("suspend", self.suspend);
    visit("checkpoint_period", self.checkpoint_period);
    visit("restart", self.restart);
    visit("timeout", self.timeout);
    visit("watchdog", self.watchdog);
    visit("max_leaves", self.max_leaves);
    visit("cross_zone", self.cross_zone);
    visit("interactive", self.is_interactive);
    visit("release_early", self.releases_early);
    visit("shared_in_group", self.is_shared_in_group);
    visit("tags", self.tags);
    visit("depends_on", self.depends_on);
    visit("begin_at", self.begin_at);
    visit("program", self.program);
    visit("is_validation", self.is_validation);
  }
};

template <typename T>
concept HasExternalFields = requires {
  sizeof(ExternalFields<std::remove_const_t<T>>);
};

template <typename T>
struct Ignore {
  template <typename U>
  void operator()(const char*, U&) const {}
};
template <typename T>
concept HasOwnFields = requires(T& value) {
  std::remove_const_t<T>::fields(value, Ignore<T>{});
};

template <typename T>
concept HasFields = HasOwnFields<T> || HasExternalFields<T>;

template <typename T, typename Visit>
requires HasFields<T>
void visit_fields(T& value, Visit&& visit) {
  if constexpr (HasExternalFields<T>) {
    ExternalFields<std::remove_const_t<T>>::fields(value, visit);
  } else {
    std::remove_const_t<T>::fields(value, visit);
  }
}

// Whether two values agree in every field of that list; what a pointer points to counts.
template <typename T>
bool equal_fields(const T& a, const T& b) {
  std::vector<const void*> of_a;
  visit_fields(a, [&](const char*, const auto& member) { of_a.push_back(&member); });
  auto at = of_a.begin();
  bool is_equal = true;
  visit_fields(b, [&](const char*, const auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    const Member& other = *static_cast<const Member*>(*at++);
    if constexpr (requires { typename Member::element_type; }) {
      is_equal = is_equal && *other == *member;
    } else {
      is_equal = is_equal && other == member;
    }
  });
  return is_equal;
}

}  // namespace hai
