#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/node_list.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/slurm/commands.h"
#include "cli/slurm/console.h"
#include "cli/slurm/control.h"
#include "cli/slurm/job_query.h"
#include "cli/slurm/job_words.h"
#include "cli/slurm/node_words.h"
#include "cli/slurm/step/step.h"
#include "cli/slurm/submit.h"
#include "common/hostlist.h"

namespace hai::cli::slurm {
namespace {

constexpr Command kScontrol = Command::scontrol;

// Needs no server: every script for several nodes calls it.
int show_hostnames(const Words& names) {
  const char* own = std::getenv("SLURM_JOB_NODELIST");
  if (names.empty() && own == nullptr) {
    return usage_error(kScontrol,
                       "show hostnames: give a host list; SLURM_JOB_NODELIST is not set");
  }
  std::string text;
  for (const std::string& list : names.empty() ? Words{own} : names) {
    const auto hosts = parse_hostlist(list);
    if (!hosts.is_ok()) return usage_error(kScontrol, hosts.status().message());
    for (const std::string& host : hosts.value()) text += host + "\n";
  }
  print(text);
  return kOk;
}

int show_hostlist(const Words& names) {
  if (names.empty()) return usage_error(kScontrol, "show hostlist: give names with commas");
  const auto hosts = parse_hostlist(names[0]);
  if (!hosts.is_ok()) return usage_error(kScontrol, hosts.status().message());
  print(hostlist_in_order(hosts.value()) + "\n");
  return kOk;
}

int show_jobs(Client& client, const Words& ids, bool one_line) {
  std::vector<v1::Job> jobs;
  if (ids.empty()) {
    Result<FoundJobs> all = find_jobs(client, {}, true);
    if (!all.is_ok()) return fail(kScontrol, all.status());
    if (!all.value().left_out.empty()) tell(kScontrol, all.value().left_out);
    jobs = std::move(all.value().jobs);
  }
  for (const std::string& text : ids) {
    const Result<int64_t> id = parse_job_id(text);
    if (!id.is_ok()) return usage_error(kScontrol, id.status().message());
    v1::GetJobRequest request;
    request.set_job(std::to_string(id.value()));
    const Result<v1::Job> job = client.get_job(request);
    if (job.status().code() == Code::not_found) {
      return fail(kScontrol, not_found("Invalid job id specified: {}", id.value()));
    }
    if (!job.is_ok()) return fail(kScontrol, job.status());
    jobs.push_back(job.value());
  }
  std::string text;
  for (const v1::Job& job : jobs) text += describe_job(job, wall_now(), one_line);
  print(text.empty() ? "No jobs in the system\n" : text);
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

int show(Session& session, Words what, bool one_line) {
  if (what.empty()) return usage_error(kScontrol, "show what? job, node, hostnames or hostlist");
  std::string thing = what[0];
  what.erase(what.begin());
  if (thing.ends_with('s')) thing.pop_back();
  if (thing == "hostname") return show_hostnames(what);
  if (thing == "hostlist") return show_hostlist(what);
  if (thing != "job" && thing != "node") {
    return usage_error(kScontrol, fmt::format("show {}: only job, node, hostnames and hostlist; "
                                              "hai quota and sinfo tell of the rest",
                                              thing.substr(0, 64)));
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kScontrol, client.status());
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

Result<std::vector<std::string>> ids_of(std::string_view verb, const Words& words) {
  std::vector<std::string> ids;
  for (const std::string& word : words) {
    for (const std::string& text : split_list(word)) {
      const Result<int64_t> id = parse_job_id(text);
      RETURN_IF_ERROR(id.status());
      ids.push_back(std::to_string(id.value()));
    }
  }
  if (ids.empty()) return invalid_argument("{}: give job ids", verb);
  return ids;
}

int act(Session& session, const Verb& verb, const Words& words) {
  const Result<std::vector<std::string>> ids = ids_of(verb.name, words);
  if (!ids.is_ok()) return usage_error(kScontrol, ids.status().message());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kScontrol, client.status());
  return control_jobs(kScontrol, *client.value(), ids.value(), verb.action, std::string(verb.name));
}

}  // namespace

int run_scontrol(Session& session, const Words& words) {
  const Result<ParsedWords> parsed = parse_words(kScontrol, words);
  if (!parsed.is_ok()) return usage_error(kScontrol, parsed.status().message());
  if (is_only_asking(kScontrol, parsed.value())) return kOk;
  Words rest = parsed.value().operands;
  if (rest.empty())
    return usage_error(kScontrol, "no command: show, hold, release, requeue, suspend or resume");
  const std::string name = rest[0];
  rest.erase(rest.begin());
  if (name == "show") return show(session, rest, parsed.value().has("oneliner"));
  for (const Verb& verb : kVerbs) {
    if (verb.name == name) return act(session, verb, rest);
  }
  const char* instead = name == "update"
                            ? "use hai priority, hai move, hai cordon, hai drain"
                            : "only show, hold, release, requeue, suspend and resume are";
  return usage_error(kScontrol,
                     fmt::format("{} is not supported: {}", name.substr(0, 64), instead));
}

}  // namespace hai::cli::slurm
