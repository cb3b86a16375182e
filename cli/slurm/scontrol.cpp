#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/file.h"
#include "cli/format.h"
#include "cli/node_list.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/slurm/commands.h"
#include "cli/slurm/console.h"
#include "cli/slurm/control.h"
#include "cli/slurm/describe.h"
#include "cli/slurm/host_lists.h"
#include "cli/slurm/input_variables.h"
#include "cli/slurm/job_plan.h"
#include "cli/slurm/job_query.h"
#include "cli/slurm/job_steps.h"
#include "cli/slurm/node_words.h"
#include "cli/slurm/scontrol_update.h"
#include "cli/slurm/slurm_time.h"
#include "cli/slurm/step/own_job.h"
#include "cli/slurm/submit.h"
#include "common/hostlist.h"
#include "common/version.h"

namespace hai::cli::slurm {
namespace {

constexpr Command kScontrol = Command::scontrol;

Result<Words> job_ids(const Words& lists) {
  Words ids;
  for (const std::string& list : lists) {
    const Result<Words> named = parse_job_ids(list);
    RETURN_IF_ERROR(named.status());
    ids.insert(ids.end(), named.value().begin(), named.value().end());
  }
  return ids;
}

int show_jobs(Client& client, const Words& lists, bool one_line) {
  std::vector<v1::Job> jobs;
  if (lists.empty()) {
    Result<FoundJobs> all = find_jobs(client, {}, true);
    if (!all.is_ok()) return fail(kScontrol, all.status());
    if (!all.value().left_out.empty()) tell(kScontrol, all.value().left_out);
    jobs = std::move(all.value().jobs);
  }
  const Result<Words> ids = job_ids(lists);
  if (!ids.is_ok()) return usage_error(kScontrol, ids.status().message());
  for (const std::string& id : ids.value()) {
    const Result<v1::Job> job = named_job(client, id);
    if (!job.is_ok()) return fail(kScontrol, job.status());
    jobs.push_back(job.value());
  }
  const Result<NodeBook> nodes = book_of_nodes(client);
  if (!nodes.is_ok()) return fail(kScontrol, nodes.status());
  std::string text;
  for (v1::Job& job : jobs) {
    const auto given = fill_from_attempt(client, nodes.value(), job);
    text += describe_job(job, given, wall_now(), one_line);
  }
  print(text.empty() ? "No jobs in the system\n" : text);
  return kOk;
}

// Those that run, as in Slurm.
int show_steps(Client& client, const Words& lists, bool one_line) {
  if (lists.empty()) return usage_error(kScontrol, "show step: name JOB or JOB.STEP");
  std::string text;
  StepReader reader(client);
  for (const std::string& list : lists) {
    const StepFilter filter(list);
    const Result<Words> ids = parse_job_ids(filter.jobs());
    if (!ids.is_ok()) return usage_error(kScontrol, ids.status().message());
    for (const std::string& id : ids.value()) {
      const Result<v1::Job> job = named_job(client, id);
      if (!job.is_ok()) return fail(kScontrol, job.status());
      for (const StepRecord& step : reader.read(job.value())) {
        if (!is_running(step, job.value())) continue;
        if (!filter.matches(job.value(), std::to_string(step.number))) continue;
        text += describe_step(step, job.value(), one_line);
      }
    }
  }
  for (const std::string& line : reader.left_out()) tell(kScontrol, line);
  print(text.empty() ? "No job steps in the system\n" : text);
  return kOk;
}

int show_nodes(Client& client, const Words& lists, bool one_line) {
  Result<std::vector<v1::Node>> nodes = all_nodes(client);
  if (!nodes.is_ok()) return fail(kScontrol, nodes.status());
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    const auto hosts = parse_hostlist(list);
    if (!hosts.is_ok()) return usage_error(kScontrol, hosts.status().message());
    names.insert(names.end(), hosts.value().begin(), hosts.value().end());
  }
  std::string text;
  const auto add = [&](const v1::Node& node) { text += describe_node(node, one_line); };
  if (names.empty()) std::for_each(nodes.value().begin(), nodes.value().end(), add);
  for (const std::string& name : names) {
    const auto node = std::find_if(nodes.value().begin(), nodes.value().end(),
                                   [&](const v1::Node& n) { return n.name() == name; });
    if (node == nodes.value().end()) return fail(kScontrol, not_found("Node {} not found", name));
    add(*node);
  }
  print(text);
  return kOk;
}

int show_partitions(Client& client, const Words& wanted, bool one_line) {
  const Result<std::vector<v1::Node>> nodes = all_nodes(client);
  if (!nodes.is_ok()) return fail(kScontrol, nodes.status());
  std::map<std::string, std::vector<v1::Node>> groups;
  for (const v1::Node& node : nodes.value()) groups[node.group()].push_back(node);
  std::string text;
  for (const std::string& name : wanted) {
    if (!groups.contains(name)) {
      return fail(kScontrol, not_found("Partition {} not found", name.substr(0, 64)));
    }
    text += describe_partition(groups[name], one_line);
  }
  if (wanted.empty()) {
    for (const auto& [name, members] : groups) text += describe_partition(members, one_line);
  }
  print(text);
  return kOk;
}

// The few settings that scripts look for and hai knows; its own are in hai knob.
int show_config(Client& client) {
  const Result<v1::Cluster> cluster = client.get_cluster({});
  if (!cluster.is_ok()) return fail(kScontrol, cluster.status());
  print(
      fmt::format("Configuration data as of {}\n"
                  "ClusterName             = {}\n"
                  "SlurmctldHost[0]        = {}\n"
                  "SLURM_VERSION           = hai {}\n"
                  "SchedulerType           = hai\n"
                  "PreemptMode             = REQUEUE\n",
                  format_clock_time(to_micros(wall_now())), cluster.value().name(),
                  cluster.value().leader(), cluster.value().version()));
  return kOk;
}

int ping(Session& session) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kScontrol, client.status());
  const Result<v1::Cluster> cluster = client.value()->get_cluster({});
  if (!cluster.is_ok()) return fail(kScontrol, cluster.status());
  print(fmt::format("Slurmctld(primary) at {} is UP\n", cluster.value().leader()));
  return kOk;
}

// write batch_script JOB [FILE]: slurm-JOB.sh unless told, "-" is standard output.
int write_script(Session& session, const Words& words) {
  if (words.size() < 2 || words.size() > 3 || words[0] != "batch_script") {
    return usage_error(kScontrol, "write: give batch_script, a job's id and perhaps a file");
  }
  const Result<std::string> id = parse_job_id(words[1]);
  if (!id.is_ok()) return usage_error(kScontrol, id.status().message());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kScontrol, client.status());
  v1::GetJobRequest request;
  request.set_job(id.value());
  const Result<v1::Job> job = client.value()->get_job(request);
  if (!job.is_ok()) return fail(kScontrol, job.status());
  const auto& environment = job.value().spec().environments();
  const auto script = environment.find(kScriptVariable);
  if (script == environment.end()) {
    return fail(kScontrol, not_found("job {} has no batch script, or it is not yours", id.value()));
  }
  const std::string path = words.size() > 2 ? words[2] : fmt::format("slurm-{}.sh", id.value());
  if (path == "-") {
    print(script->second);
    return kOk;
  }
  const Status status = write_file(path, script->second, 0644);
  if (!status.is_ok()) return fail(kScontrol, status);
  print(fmt::format("batch script for job {} written to {}\n", id.value(), path));
  return kOk;
}

int show(Session& session, Words what, bool one_line) {
  if (what.empty()) {
    return usage_error(kScontrol,
                       "show what? job, step, node, partition, config, hostnames or hostlist");
  }
  std::string thing = what[0];
  what.erase(what.begin());
  if (thing.ends_with('s')) thing.pop_back();
  if (thing == "hostname") return show_hostnames(what);
  if (thing == "hostlist") return show_hostlist(what);
  if (thing != "job" && thing != "step" && thing != "node" && thing != "partition" &&
      thing != "config") {
    return usage_error(kScontrol,
                       fmt::format("show {}: only job, step, node, partition, config, hostnames "
                                   "and hostlist; hai quota and sinfo tell of the rest",
                                   thing.substr(0, 64)));
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kScontrol, client.status());
  if (thing == "config") return show_config(*client.value());
  if (thing == "step") return show_steps(*client.value(), what, one_line);
  if (thing == "partition") return show_partitions(*client.value(), what, one_line);
  return thing == "job" ? show_jobs(*client.value(), what, one_line)
                        : show_nodes(*client.value(), what, one_line);
}

struct Verb {
  std::string_view name;
  v1::JobAction action;
};
constexpr Verb kVerbs[] = {{"hold", v1::JOB_ACTION_HOLD},
                           {"release", v1::JOB_ACTION_RELEASE},
                           {"requeue", v1::JOB_ACTION_REQUEUE},
                           {"suspend", v1::JOB_ACTION_SUSPEND},
                           {"resume", v1::JOB_ACTION_RESUME}};

// This script's own job, by its number or as a task of its array.
bool is_own_job(const Words& ids) {
  const auto variable = [](const char* name) { return own_variable(name).value_or(""); };
  const std::string task = variable("SLURM_ARRAY_JOB_ID") + "_" + variable("SLURM_ARRAY_TASK_ID");
  return ids == Words{variable("SLURM_JOB_ID")} || ids == Words{task};
}

int act(Session& session, const Verb& verb, const Words& words) {
  const Result<Words> ids = job_ids(words);
  if (!ids.is_ok()) return usage_error(kScontrol, ids.status().message());
  if (ids.value().empty()) {
    return usage_error(kScontrol, fmt::format("{}: give job ids", verb.name));
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kScontrol, client.status());
  // A script that requeues its own job has saved what it wanted, and expects its end, as in Slurm;
  // unless it was asked to leave by hai: then it has its time to save.
  const std::string socket = own_variable("HAI_SOCKET").value_or("");
  const bool is_own =
      verb.action == v1::JOB_ACTION_REQUEUE && !socket.empty() && is_own_job(ids.value());
  const Result<bool> is_asked = is_own ? is_asked_to_leave(socket) : Result<bool>(true);
  const bool must_leave = is_asked.is_ok() && !is_asked.value();
  const int code =
      control_jobs(kScontrol, *client.value(), ids.value(), verb.action, std::string(verb.name));
  if (code != kOk || !must_leave) return code;
  const Status left = leave_now(socket);
  return left.is_ok() ? kOk : fail(kScontrol, left);
}

int update(Session& session, const Words& words) {
  const Result<JobUpdate> read = read_update(words, wall_now());
  if (!read.is_ok()) return usage_error(kScontrol, read.status().message());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kScontrol, client.status());
  return update_jobs(*client.value(), read.value());
}

}  // namespace

int run_scontrol(Session& session, const Words& words) {
  const Result<ParsedWords> parsed = parse_with_environment(kScontrol, words);
  if (!parsed.is_ok()) return usage_error(kScontrol, parsed.status().message());
  if (is_only_asking(kScontrol, parsed.value())) return kOk;
  Words rest = parsed.value().operands;
  if (rest.empty())
    return usage_error(kScontrol,
                       "no command: show, hold, release, requeue, suspend, resume or update");
  const std::string name = rest[0];
  rest.erase(rest.begin());
  if (name == "show") return show(session, rest, parsed.value().has("oneliner"));
  if (name == "update") return update(session, rest);
  if (name == "ping") return ping(session);
  if (name == "write") return write_script(session, rest);
  if (name == "version") {
    print(fmt::format("hai-slurm {}\n", version()));
    return kOk;
  }
  for (const Verb& verb : kVerbs) {
    if (verb.name == name) return act(session, verb, rest);
  }
  return usage_error(kScontrol,
                     fmt::format("{} is not supported: only show, hold, release, requeue, suspend, "
                                 "resume, update, ping, version and write batch_script are",
                                 name.substr(0, 64)));
}

}  // namespace hai::cli::slurm
