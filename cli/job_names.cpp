#include "cli/job_names.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/client.h"
#include "cli/session.h"
#include "common/hostlist.h"
#include "common/whole_number.h"

namespace hai::cli {
namespace {

constexpr int kPageSize = 1'000;
constexpr size_t kJobsMax = 20'000;

bool has_ended(const v1::Job& job) {
  return job.state() == "succeeded" || job.state() == "failed" || job.state() == "stopped";
}

// An array is queued until all its tasks are made, whatever these do: states are of its tasks.
bool is_of_tasks(const JobSelection& selection) {
  return selection.among == JobSelection::Among::unfinished && !selection.states.empty();
}

bool passes_filters(const JobSelection& selection, const v1::Job& job) {
  if (has_ended(job) != (selection.among == JobSelection::Among::ended)) return false;
  const auto has_tag = [&](const std::string& tag) {
    return std::find(job.tags().begin(), job.tags().end(), tag) != job.tags().end();
  };
  const auto& states = selection.states;
  return (states.empty() || std::find(states.begin(), states.end(), job.state()) != states.end()) &&
         std::all_of(selection.tags.begin(), selection.tags.end(), has_tag) &&
         (selection.group.empty() || job.group() == selection.group);
}

bool passes(const JobSelection& selection, const v1::Job& job) {
  return passes_filters(selection, job) && !(is_of_tasks(selection) && job.has_array());
}

bool means(const JobSelection& selection, const std::string& word, const v1::Job& job) {
  if (const auto range = id_range(word)) {
    const auto is_within = [&](int64_t id) { return id >= range->first && id <= range->second; };
    const bool may_be_array = selection.array == 0 && job.has_array_task();
    return is_within(job.id()) || (may_be_array && is_within(job.array_task().array()));
  }
  return ::fnmatch(word.c_str(), job.name().c_str(), 0) == 0;
}

// The ids of the latest job of each name.
std::set<int64_t> latest_of_names(const std::vector<v1::Job>& jobs) {
  std::map<std::string, int64_t> by_name;
  for (const v1::Job& job : jobs) {
    int64_t& id = by_name[job.name()];
    id = std::max(id, job.id());
  }
  std::set<int64_t> ids;
  for (const auto& [name, id] : by_name) ids.insert(id);
  return ids;
}

Result<std::vector<v1::Job>> own_jobs(Client& client, const JobSelection& selection) {
  std::vector<v1::Job> jobs;
  v1::ListJobsRequest request;
  request.set_page_size(kPageSize);
  request.set_user(selection.user);
  request.set_array(selection.array);
  const bool is_ended = selection.among == JobSelection::Among::ended;
  request.set_include_finished(is_ended);
  request.set_tasks(selection.array == 0 && is_of_tasks(selection));
  // Which of those that ended is the latest of its name, only all of them tell; tasks have none.
  if (!is_ended || selection.array != 0) {
    request.mutable_states()->Assign(selection.states.begin(), selection.states.end());
    request.mutable_tags()->Assign(selection.tags.begin(), selection.tags.end());
    request.set_group(selection.group);
  }
  for (;;) {
    const Result<v1::ListJobsReply> page = client.list_jobs(request);
    RETURN_IF_ERROR(page.status());
    jobs.insert(jobs.end(), page.value().jobs().begin(), page.value().jobs().end());
    if (page.value().next_cursor().empty()) return jobs;
    if (jobs.size() >= kJobsMax) {
      return failed_precondition(
          "there are more than {} jobs to choose from: {}", kJobsMax,
          is_ended ? "name them by id" : "name them by id, or add --state, --tag or --group");
    }
    request.set_cursor(page.value().next_cursor());
  }
}

// Arrays that the selection means, but for whose tasks it is too early.
void say_what_stays(const JobSelection& selection, const std::vector<v1::Job>& own) {
  if (!is_of_tasks(selection)) return;
  for (const v1::Job& job : own) {
    const bool is_meant =
        selection.words.empty() ||
        std::any_of(selection.words.begin(), selection.words.end(),
                    [&](const auto& word) { return means(selection, word, job); });
    const bool has_more = job.has_array() && job.array().made() < job.array().tasks();
    if (!has_more || !is_meant || !passes_filters(selection, job)) continue;
    say(
        fmt::format("array {}: its tasks that are not made yet stay as they are; name {} to change "
                    "the whole array",
                    job.id(), job.id()));
  }
}

}  // namespace

std::optional<std::pair<int64_t, int64_t>> id_range(const std::string& word) {
  const size_t dash = word.find('-');
  if (dash == std::string::npos) return std::nullopt;
  const auto first = whole_number(std::string_view(word).substr(0, dash));
  const auto last = whole_number(std::string_view(word).substr(dash + 1));
  if (!first || !last || *first < 1 || *last < 1) return std::nullopt;
  return std::pair(*first, *last);
}

bool is_pattern(const std::string& word) { return word.find_first_of("*?[") != std::string::npos; }

Result<std::vector<std::string>> select_jobs(const JobSelection& selection,
                                             const std::vector<v1::Job>& own) {
  std::vector<std::string> names;  // as they are
  std::set<int64_t> ids;
  const std::set<int64_t> latest = latest_of_names(own);
  const auto is_superseded = [&](const v1::Job& job) {
    return selection.array == 0 && has_ended(job) && !latest.contains(job.id());
  };
  const std::string nobody =
      fmt::format("{} no {} job", selection.user.empty() ? "you have" : selection.user + " has",
                  selection.among == JobSelection::Among::ended ? "ended" : "unfinished");
  for (const std::string& word : selection.words) {
    if (word.ends_with("_*") && whole_number(word.substr(0, word.size() - 2))) {
      names.push_back(word.substr(0, word.size() - 2));  // 17_*: the whole array
      continue;
    }
    if (word.find("_[") != std::string::npos &&
        word.find_first_not_of("0123456789_[],-") == word.npos) {
      const auto tasks = parse_hostlist(word);  // 17_[1-5]: tasks of an array
      RETURN_IF_ERROR(tasks.status());
      names.insert(names.end(), tasks.value().begin(), tasks.value().end());
      continue;
    }
    const auto range = id_range(word);
    const auto is_named_so = [&](const v1::Job& job) { return job.name() == word; };
    // A job may be called 17-20, too.
    const bool is_name = range && std::any_of(own.begin(), own.end(), is_named_so);
    if (range && range->first > range->second && !is_name) {
      return invalid_argument("{}: the first id of a range is the lower one", word);
    }
    if ((!range && !is_pattern(word)) || is_name) {
      names.push_back(word);
      continue;
    }
    size_t found = 0;
    for (const v1::Job& job : own) {
      if (!means(selection, word, job) || !passes(selection, job)) continue;
      if (!range && is_superseded(job)) continue;
      ids.insert(job.id());
      ++found;
    }
    if (found == 0) return not_found("{} {}", nobody, word);
  }
  if (selection.words.empty()) {
    for (const v1::Job& job : own) {
      if (passes(selection, job) && !is_superseded(job)) ids.insert(job.id());
    }
    if (ids.empty()) return not_found("{} like that", nobody);
  } else if ((selection.has_filters() || !selection.user.empty()) && !names.empty()) {
    return invalid_argument("{}: filters go with ranges and patterns, not with a job of its own",
                            names.front());
  }
  for (const int64_t id : ids) names.push_back(std::to_string(id));
  return names;
}

Result<int64_t> find_array(Client& client, const std::string& word) {
  v1::GetJobRequest request;
  request.set_job(word);
  const Result<v1::Job> job = client.get_job(request);
  RETURN_IF_ERROR(job.status());
  if (job.value().has_array()) return job.value().id();
  const std::string hint = job.value().has_array_task()
                               ? fmt::format("; its array is {}", job.value().array_task().array())
                               : "";
  return invalid_argument("--array: job {} ({}) is no array{}", job.value().id(),
                          job.value().name(), hint);
}

Result<std::vector<std::string>> find_selected(Client& client, const JobSelection& selection) {
  if (!selection.array_word.empty()) {
    const Result<int64_t> array = find_array(client, selection.array_word);
    RETURN_IF_ERROR(array.status());
    JobSelection resolved = selection;
    resolved.array_word.clear();
    resolved.array = array.value();
    return find_selected(client, resolved);
  }
  const bool needs_jobs =
      selection.has_filters() || !selection.user.empty() ||
      std::any_of(selection.words.begin(), selection.words.end(), [](const std::string& word) {
        return is_pattern(word) || id_range(word).has_value();
      });
  if (!needs_jobs) return selection.words;
  const Result<std::vector<v1::Job>> own = own_jobs(client, selection);
  RETURN_IF_ERROR(own.status());
  say_what_stays(selection, own.value());
  return select_jobs(selection, own.value());
}

}  // namespace hai::cli
