#include "cli/slurm/job_query.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/client.h"
#include "cli/slurm/job_words.h"
#include "cli/slurm/map_job.h"
#include "common/hostlist.h"
#include "common/whole_number.h"

namespace hai::cli::slurm {
namespace {

constexpr size_t kJobsMax = 100'000;
// Of jobs submitted before the period that is asked for: the server looks through 200,000 for each.
constexpr size_t kOlderPages = 30;
constexpr size_t kSpecsMax = 2'000;  // each is a call

bool is_in(const std::vector<std::string>& list, const std::string& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

bool is_finished(const v1::Job& job) {
  return job.state() == "succeeded" || job.state() == "failed" || job.state() == "stopped";
}

Status invalid_id(std::string_view text) {
  return invalid_argument("Invalid job id specified: '{}'", text.substr(0, 64));
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
  std::vector<std::string> items(1);
  bool is_in_brackets = false;
  for (const char c : text) {
    if (c == '[' || c == ']') is_in_brackets = c == '[';
    if (c != ',' || is_in_brackets) {
      items.back() += c;
    } else if (!items.back().empty()) {
      items.emplace_back();
    }
  }
  if (items.back().empty()) items.pop_back();
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

Result<std::vector<std::string>> parse_job_ids(std::string_view text) {
  std::vector<std::string> ids;
  for (const std::string& item : split_list(text)) {
    const size_t digits = std::min(item.find_first_not_of("0123456789"), item.size());
    const std::string_view rest = std::string_view(item).substr(digits);
    if (whole_number(item.substr(0, digits)).value_or(0) < 1) return invalid_id(item);
    if (rest.starts_with('.')) {
      return invalid_argument("{}: name a whole job: steps are not changed one by one",
                              item.substr(0, 64));
    }
    if (rest.empty() || rest == "_*") {
      ids.push_back(item.substr(0, digits));
      continue;
    }
    if (!rest.starts_with('_') || rest.find_first_not_of("0123456789,-[]", 1) != rest.npos) {
      return invalid_id(item);
    }
    const auto tasks = parse_hostlist(item);
    if (!tasks.is_ok()) return invalid_id(item);
    for (const std::string& task : tasks.value()) {
      if (!whole_number(std::string_view(task).substr(digits + 1))) return invalid_id(item);
      ids.push_back(task);
    }
  }
  return ids;
}

Result<std::string> parse_job_id(std::string_view text) {
  Result<std::vector<std::string>> ids = parse_job_ids(text);
  RETURN_IF_ERROR(ids.status());
  return ids.value().size() == 1 ? Result<std::string>(ids.value()[0]) : invalid_id(text);
}

Result<v1::Job> named_job(Client& client, const std::string& id) {
  v1::GetJobRequest request;
  request.set_job(id);
  Result<v1::Job> job = client.get_job(request);
  if (job.status().code() == Code::not_found) return not_found("Invalid job id specified: {}", id);
  return job;
}

Result<std::vector<v1::Job>> tasks_of(Client& client, const v1::Job& array, bool with_ended) {
  std::vector<v1::Job> jobs;
  if (array.array().made() < array.array().tasks()) jobs.push_back(array);
  v1::ListJobsRequest request;
  request.set_array(array.id());
  request.set_all_users(true);
  request.set_include_finished(with_ended);
  request.set_page_size(1'000);
  do {
    const Result<v1::ListJobsReply> page = client.list_jobs(request);
    RETURN_IF_ERROR(page.status());
    jobs.insert(jobs.end(), page.value().jobs().begin(), page.value().jobs().end());
    request.set_cursor(page.value().next_cursor());
  } while (!request.cursor().empty());
  std::ranges::sort(jobs, {}, [](const v1::Job& job) { return job.id(); });
  return jobs;
}

Result<FoundJobs> find_jobs(Client& client, const JobFilter& filter, bool with_specs,
                            const std::optional<Period>& period) {
  v1::ListJobsRequest request;
  request.set_page_size(1'000);
  request.set_all_users(filter.users.size() != 1);
  if (filter.users.size() == 1) request.set_user(filter.users[0]);
  if (filter.groups.size() == 1) request.set_group(filter.groups[0]);
  request.set_tasks(true);
  request.set_include_finished(filter.any_state || !filter.states.empty());
  FoundJobs found;
  Result<std::string> left_out = list_pages(
      request, period, period ? kOlderPages : kJobsMax,
      [&client](const v1::ListJobsRequest& page) { return client.list_jobs(page); },
      [&](const v1::Job& job) {
        // Of an array only what is still to come has a line; its tasks have their own.
        const bool is_made = job.has_array() && job.array().made() == job.array().tasks();
        if (!is_made && filter.matches(job)) found.jobs.push_back(job);
      });
  RETURN_IF_ERROR(left_out.status());
  found.left_out = std::move(left_out).value();
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

}  // namespace hai::cli::slurm
