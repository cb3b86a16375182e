#include "cli/slurm/job_query.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "cli/client.h"
#include "cli/slurm/job_words.h"
#include "cli/slurm/map_job.h"
#include "common/hostlist.h"

namespace hai::cli::slurm {
namespace {

constexpr size_t kJobsMax = 100'000;
constexpr size_t kSpecsMax = 2'000;  // each is a call

bool is_in(const std::vector<std::string>& list, const std::string& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

bool is_finished(const v1::Job& job) {
  return job.state() == "succeeded" || job.state() == "failed" || job.state() == "stopped";
}

}  // namespace

bool JobFilter::matches(const v1::Job& job) const {
  if (!any_state && states.empty() && is_finished(job)) return false;
  const bool is_on_node =
      nodes.empty() || std::any_of(job.nodes().begin(), job.nodes().end(),
                                   [&](const std::string& node) { return is_in(nodes, node); });
  return is_on_node && is_in(users, job.user()) && is_in(names, job.name()) &&
         is_in(groups, job.group()) && is_in(priorities, job.priority()) &&
         is_in(states, std::string(state_of(job).code));
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) items.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return items;
}

Result<JobFilter> read_filter(Client& client, const ParsedWords& words) {
  JobFilter filter;
  filter.users = split_list(words.value_of("user"));
  if (words.has("me")) {
    const Result<v1::WhoAmIReply> who = client.who_am_i({});
    RETURN_IF_ERROR(who.status());
    filter.users = {who.value().user()};
  }
  for (const char* option : {"name", "jobname"}) {
    for (const std::string& name : split_list(words.value_of(option))) {
      filter.names.push_back(job_name(name));
    }
  }
  filter.groups = split_list(words.value_of("partition"));
  filter.priorities = split_list(words.value_of("qos"));
  if (const GivenOption* given = words.find("nodelist")) {
    auto nodes = parse_hostlist(given->value);
    if (!nodes.is_ok()) return option_error(*given, nodes.status().message());
    filter.nodes = std::move(nodes.value());
  }
  return filter;
}

Result<int64_t> parse_job_id(std::string_view text) {
  int64_t id = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool is_number = parsed.ec == std::errc() && id > 0;
  if (is_number && parsed.ptr == text.data() + text.size()) return id;
  if (is_number && (*parsed.ptr == '_' || *parsed.ptr == '.')) {
    return invalid_argument(
        "{}: name a whole job; a task of an array by its own id, `squeue -o %A`",
        text.substr(0, 64));
  }
  return invalid_argument("Invalid job id specified: '{}'", text.substr(0, 64));
}

Result<FoundJobs> find_jobs(Client& client, const JobFilter& filter, bool with_specs) {
  v1::ListJobsRequest request;
  request.set_page_size(1'000);
  request.set_all_users(filter.users.size() != 1);
  if (filter.users.size() == 1) request.set_user(filter.users[0]);
  if (filter.groups.size() == 1) request.set_group(filter.groups[0]);
  request.set_tasks(true);
  request.set_include_finished(filter.any_state || !filter.states.empty());
  FoundJobs found;
  size_t seen = 0;
  do {
    const Result<v1::ListJobsReply> page = client.list_jobs(request);
    RETURN_IF_ERROR(page.status());
    seen += static_cast<size_t>(page.value().jobs_size());
    for (const v1::Job& job : page.value().jobs()) {
      // Of an array only what is still to come has a line; its tasks have their own.
      if (job.has_array() && job.array().made() == job.array().tasks()) continue;
      if (filter.matches(job)) found.jobs.push_back(job);
    }
    request.set_cursor(page.value().next_cursor());
  } while (!request.cursor().empty() && seen < kJobsMax);
  if (!request.cursor().empty()) {
    found.left_out = fmt::format("only the newest {} jobs were looked at", seen);
  }
  std::reverse(found.jobs.begin(), found.jobs.end());
  if (!with_specs) return found;
  if (found.jobs.size() > kSpecsMax) {
    found.left_out =
        fmt::format("time limits and dependencies of only {} jobs are shown", kSpecsMax);
  }
  for (size_t i = 0; i < std::min(found.jobs.size(), kSpecsMax); ++i) {
    v1::GetJobRequest one;
    one.set_job(std::to_string(found.jobs[i].id()));
    const Result<v1::Job> job = client.get_job(one);
    if (job.is_ok()) found.jobs[i] = job.value();
  }
  return found;
}

std::optional<int> fill_from_attempt(Client& client, v1::Job& job) {
  if (job.attempt() == 0) return std::nullopt;
  v1::ListAttemptsRequest request;
  request.set_job(std::to_string(job.id()));
  request.set_page_size(1);
  const Result<v1::ListAttemptsReply> attempts = client.list_attempts(request);
  if (!attempts.is_ok() || attempts.value().attempts_size() == 0) return std::nullopt;
  const bool has_nodes = job.nodes_size() > 0;
  int gpus = 0;
  for (const v1::RankInfo& rank : attempts.value().attempts(0).ranks()) {
    gpus += rank.gpus_size();
    if (!has_nodes) job.add_nodes(rank.node());
  }
  return gpus;
}

}  // namespace hai::cli::slurm
