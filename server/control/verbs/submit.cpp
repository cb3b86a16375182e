// Admission: a job that can never run is refused with the reason; everything else is queued and
// durable.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "common/check.h"
#include "common/count_of.h"
#include "common/hostlist.h"
#include "server/control/attempt/array_flow.h"
#include "server/control/verbs/dependencies.h"
#include "server/control/verbs/submit.h"
#include "server/plan/eligible.h"
#include "server/plan/ledger.h"

namespace hai {
namespace {

// How many of the group's nodes could ever run one job: a zone's, or two zones' together, because
// only one pair of neighbouring ranks may cross.
int most_nodes_together(const JobSpec& spec, const std::map<std::string, int>& nodes_by_zone) {
  if (!spec.zone.empty()) {
    const auto zone = nodes_by_zone.find(spec.zone);
    return zone == nodes_by_zone.end() ? 0 : zone->second;
  }
  int first = 0;
  int second = 0;
  for (const auto& [zone, count] : nodes_by_zone) {
    second = std::max(second, std::min(first, count));
    first = std::max(first, count);
  }
  return spec.cross_zone == CrossZone::allow ? first + second : first;
}

// What no node of the group is or has, of what a job asks of its nodes.
Status check_filter(const ClusterState& state, const JobSpec& spec) {
  const NodeFilter& filter = spec.node_filter;
  std::set<std::string> models;
  std::set<std::string> labels;
  std::set<std::string> known;  // of the labels asked for
  bool has_type = filter.gpu_type.empty();
  bool has_name = filter.nodes.empty();
  for (const auto& [id, node] : state.nodes()) {
    const NodeFacts& facts = node.facts;
    if (node.removed_at || facts.group != spec.group) continue;
    if (!facts.gpu_model.empty()) models.insert(facts.gpu_model);
    labels.insert(facts.labels.begin(), facts.labels.end());
    has_type = has_type || is_gpu_type(filter.gpu_type, facts.gpu_model);
    has_name = has_name || is_in_hostlist(facts.name, filter.nodes);
    for (const std::string& label : filter.labels) {
      if (has_label(facts, label)) known.insert(label);
    }
  }
  if (!has_type) {
    return invalid_argument("resource.gpu_type: no node of {} has a GPU of type '{}'; there is: {}",
                            spec.group, filter.gpu_type,
                            models.empty() ? "none" : fmt::format("{}", fmt::join(models, ", ")));
  }
  for (const std::string& label : filter.labels) {
    if (known.contains(label)) continue;
    return invalid_argument("resource.labels: no node of {} has the label '{}'; there is: {}",
                            spec.group, label,
                            labels.empty() ? "none" : fmt::format("{}", fmt::join(labels, ", ")));
  }
  if (has_name) return ok();
  return invalid_argument("resource.nodes: none of {} is a node of {}", filter.nodes.substr(0, 128),
                          spec.group);
}

// Of the group's nodes those that the job may have.
NodeCensus::Sizes sizes_for(const ClusterState& state, const JobSpec& spec) {
  if (spec.node_filter.is_empty()) return state.node_census().sizes_of(spec.group);
  NodeCensus::Sizes sizes;
  for (const auto& [id, node] : state.nodes()) {
    if (node.removed_at || node.facts.group != spec.group) continue;
    if (!spec.node_filter.takes(node.facts)) continue;
    if (!has_host(node.facts, spec.gpus_per_node, host_ask(spec))) continue;
    ++sizes[{node.facts.zone, node.facts.gpus}];
  }
  return sizes;
}

Status check_group(const ClusterState& state, const JobSpec& spec) {
  const NodeCensus& census = state.node_census();
  std::set<std::string> zones;
  std::set<int> gpu_counts;
  for (const auto& [size, count] : census.sizes_of(spec.group)) {
    zones.insert(size.first);
    gpu_counts.insert(size.second);
  }
  if (gpu_counts.empty()) {
    const auto groups = std::views::keys(census.groups());
    return invalid_argument("resource.group: there is no node group '{}'; there is: {}", spec.group,
                            census.groups().empty() ? "none yet, no node has registered"
                                                    : fmt::format("{}", fmt::join(groups, ", ")));
  }
  if (!spec.zone.empty() && !zones.contains(spec.zone)) {
    return invalid_argument("resource.group: group {} has no zone '{}'", spec.group, spec.zone);
  }
  if (spec.gpus_per_node > 0 && spec.gpus_per_node != 1 && spec.gpus_per_node != 2 &&
      spec.gpus_per_node != 4 && !gpu_counts.contains(spec.gpus_per_node)) {
    return invalid_argument(
        "resource.gpus_per_node: must be 1, 2, 4 (a share) or {} (the whole node) in group {}, is "
        "{}",
        fmt::join(gpu_counts, " or "), spec.group, spec.gpus_per_node);
  }
  if (!spec.node_filter.is_empty()) RETURN_IF_ERROR(check_filter(state, spec));
  std::map<std::string, int> nodes_by_zone;
  int fitting = 0;
  for (const auto& [size, count] : sizes_for(state, spec)) {
    const auto& [zone, gpus] = size;
    if (spec.asks_gpus() && (gpus == 0 || spec.gpus_per_node > gpus)) continue;
    fitting += count;
    nodes_by_zone[zone] += count;
  }
  int most = most_nodes_together(spec, nodes_by_zone);
  if (spec.node_count > most) {
    std::string_view together = !spec.zone.empty() || most == fitting ? ""
                                : spec.cross_zone == CrossZone::allow ? " in two zones together"
                                                                      : " in one zone";
    return invalid_argument(
        "resource.node_count: {} asked, but {}{} has {}{}{}{}", spec.node_count, spec.group,
        spec.zone.empty() ? "" : "#" + spec.zone, count_of(most, "node"),
        spec.gpus_per_node > 0 ? " with at least " + count_of(spec.gpus_per_node, "GPU") : "",
        spec.node_filter.is_empty() ? "" : fmt::format(" ({})", filter_text(spec.node_filter)),
        together);
  }
  return ok();
}

// Of CPUs and memory: what no node of the group has, or not as many nodes as the job wants. A node
// that does not know its own counts for any amount.
Status check_sizes(const ClusterState& state, const JobSpec& spec) {
  const auto [most_cpus, most_memory] = state.node_census().largest_of(spec.group, spec.zone);
  if (spec.cpus_per_node > most_cpus) {
    return invalid_argument("resource.cpus_per_node: {} asked, but no node of {} has more than {}",
                            spec.cpus_per_node, spec.group, most_cpus);
  }
  if (spec.memory_per_node_bytes > most_memory) {
    const auto gib = [](int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
    return invalid_argument(
        "resource.memory_per_node: {:.1f} GiB asked, but no node of {} has more than {:.1f} GiB",
        gib(spec.memory_per_node_bytes), spec.group, gib(most_memory));
  }
  if (spec.cpus_per_node == 0 && spec.memory_per_node_bytes == 0) return ok();
  const int enough = state.node_census().nodes_with(spec.group, spec.zone, spec.cpus_per_node,
                                                    spec.memory_per_node_bytes, spec.node_count);
  if (enough >= spec.node_count) return ok();
  return invalid_argument(
      "resource.node_count: {} asked, but only {} node{} of {} ha{} the CPUs and memory asked for",
      spec.node_count, enough, enough == 1 ? "" : "s", spec.group, enough == 1 ? "s" : "ve");
}

}  // namespace

Status check_room(const ClusterState& state, const JobSpec& spec) {
  RETURN_IF_ERROR(check_group(state, spec));
  return check_sizes(state, spec);
}

Status check_quota(const ClusterState& state, const User& user, const JobSpec& spec,
                   Priority priority) {
  int64_t units = quota_units(state, spec);
  int64_t best = 0;
  for (Priority level : kPriorities) {
    bool counts = priority == level || (priority == Priority::automatic && level <= kAutoCeiling);
    if (counts) best = std::max(best, state.quota_nodes(user, spec.group, level).value_or(0));
  }
  if (best >= Quota::kUnlimited || units <= best * ClusterState::kNodeUnit) return ok();
  return resource_exhausted(
      "quota of {} in {}/{}: {} in all, {} asked; ask an admin for more or take another priority",
      user.name, spec.group, to_string(priority), count_of(best, "node"), spec.node_count);
}

// Of the jobs that nobody is given the nodes of. Shares count in proportion.
Status check_interactive(const ClusterState& state, const Knobs& knobs, const std::string& user,
                         const JobSpec& spec, JobId self) {
  if (!spec.is_interactive || !spec.asks_gpus()) return ok();
  if (knobs.interactive_nodes == 0) {
    return failed_precondition(
        "options.interactive: this cluster has no interactive nodes (the knob interactive_nodes); "
        "without it the job runs, and makes room like any other");
  }
  const int64_t asked = quota_units(state, spec);
  int64_t of_all = asked;
  int64_t of_user = asked;
  for (const auto& [id, job] : state.jobs()) {
    if (job.is_terminal() || !job.spec->is_interactive || id == self) continue;
    const int64_t units = quota_units(state, *job.spec);
    of_all += units;
    if (job.user == user) of_user += units;
  }
  const auto over = [&](int64_t units, int nodes, std::string_view whose, std::string_view knob) {
    const auto in_nodes = [](int64_t each) {
      return static_cast<double>(each) / static_cast<double>(ClusterState::kNodeUnit);
    };
    return resource_exhausted(
        "options.interactive: {} {:g} of {} interactive nodes ({}), and {:g} more are asked; "
        "without it the job runs, and makes room like any other",
        whose, in_nodes(units - asked), nodes, knob, in_nodes(asked));
  };
  if (of_user > knobs.interactive_nodes_per_user * ClusterState::kNodeUnit) {
    return over(of_user, knobs.interactive_nodes_per_user, user + " has",
                "interactive_nodes_per_user");
  }
  if (of_all > knobs.interactive_nodes * ClusterState::kNodeUnit) {
    return over(of_all, knobs.interactive_nodes, "all have", "interactive_nodes");
  }
  return ok();
}

namespace {

// Only the submitter's: the ranks get no others (server/api/launch_secrets.h).
Status check_secrets(const ClusterState& state, const std::string& user, const JobSpec& spec) {
  for (const auto& [variable, name] : spec.secrets) {
    if (state.find_secret(user, name) != nullptr) continue;
    return not_found("spec.secrets.{}: {} has no secret named {}; `hai secret set {}` makes one",
                     variable, user, name, name);
  }
  return ok();
}

// Whoever asks again must get what he asked for. What may be edited since is not compared.
Status check_is_same(const Job& job, const JobSpec& spec) {
  const JobSpec& known = *job.spec;
  if (known.name == spec.name && known.workspace == spec.workspace &&
      known.entrypoint == spec.entrypoint && known.parameters == spec.parameters &&
      known.environments == spec.environments) {
    return ok();
  }
  return already_exists(
      "request_id (Idempotency-Key): it was used for job {} ({}), which is another; give each new "
      "job a key of its own",
      job.id.value, known.name);
}

// Each has its array's whole spec, and all are stored with the job that names them.
Status check_size(const ClusterState& state, const std::vector<ArrayTask>& tasks) {
  int64_t bytes = 0;
  for (const ArrayTask& task : tasks) bytes += text_bytes(*state.find(task.array)->spec);
  if (bytes <= kTaskTextBytes) return ok();
  return invalid_argument(
      "depends_on: the {} tasks that it names and that are not made yet would store {} MiB with "
      "their environments, at most {} at once: name fewer, or their array",
      tasks.size(), mebibytes(bytes), mebibytes(kTaskTextBytes));
}

}  // namespace

Result<CommandReply> decide(Decision& decision, const SubmitJob& command, const Actor& actor) {
  const ClusterState& state = decision.state();
  const JobSpec& spec = command.spec;
  if (!command.request_id.empty()) {
    if (const std::optional<JobId> known = state.find_request(actor.user, command.request_id)) {
      const Job* job = state.find(*known);  // It may have ended long ago.
      if (job != nullptr && !command.rerun_of) RETURN_IF_ERROR(check_is_same(*job, spec));
      return CommandReply{*known, job != nullptr ? job->spec->name : spec.name, "submitted before"};
    }
  }
  const Job* same = state.find_unfinished(actor.user, spec.name);
  if (same != nullptr && !is_singleton(spec)) {
    return already_exists(
        "name: {} is the name of your unfinished job {}; take another or stop that one", spec.name,
        same->id.value);
  }
  RETURN_IF_ERROR(check_may_have_more(decision, actor.user));
  RETURN_IF_ERROR(check_room(state, spec));
  RETURN_IF_ERROR(check_quota(state, *state.find_user(actor.user), spec, spec.priority));
  RETURN_IF_ERROR(check_interactive(state, decision.knobs(), actor.user, spec, {}));
  RETURN_IF_ERROR(check_secrets(state, actor.user, spec));
  Result<std::vector<Dependency>> dependencies =
      resolve_dependencies(state, actor.user, spec, command.history, command.rerun_of);
  if (!dependencies.is_ok()) return dependencies.status();
  if (const auto tasks = unmade_tasks(state, actor.user, spec); !tasks.empty()) {
    RETURN_IF_ERROR(
        check_may_have_more(decision, actor.user, 1 + static_cast<int64_t>(tasks.size())));
    RETURN_IF_ERROR(check_size(state, tasks));
    for (const ArrayTask& task : tasks) make_task(decision, task.array, task.index);
    dependencies = resolve_dependencies(state, actor.user, spec, command.history, command.rerun_of);
    CHECK(dependencies.is_ok());
  }
  JobId id{state.last_job().value + 1};
  decision.emit(JobSubmitted{id, actor.user, command.request_id,
                             std::make_shared<const JobSpec>(spec), std::move(dependencies).value(),
                             command.rerun_of});
  if (!spec.array.empty()) advance_array(decision, id, tasks_at_submit(spec));
  return CommandReply{id, spec.name, "queued"};
}

}  // namespace hai
