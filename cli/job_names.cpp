#include "cli/job_names.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/client.h"
#include "common/hostlist.h"
#include "common/whole_number.h"

namespace hai::cli {
namespace {

constexpr int kPageSize = 1'000;
constexpr size_t kJobsMax = 20'000;

bool has_ended(const v1::Job& job) {
  return job.state() == "succeeded" || job.state() == "failed" || job.state() == "stopped";
}

bool passes(const JobSelection& selection, const v1::Job& job) {
  if (has_ended(job) != (selection.among == JobSelection::Among::ended)) return false;
  const auto has_tag = [&](const std::string& tag) {
    return std::find(job.tags().begin(), job.tags().end(), tag) != job.tags().end();
  };
  const auto& states = selection.states;
  return (states.empty() || std::find(states.begin(), states.end(), job.state()) != states.end()) &&
         std::all_of(selection.tags.begin(), selection.tags.end(), has_tag) &&
         (selection.group.empty() || job.group() == selection.group);
}

bool means(const std::string& word, const v1::Job& job) {
  if (const auto range = id_range(word)) {
    return job.id() >= range->first && job.id() <= range->second;
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
  request.set_include_finished(selection.among == JobSelection::Among::ended);
  for (;;) {
    const Result<v1::ListJobsReply> page = client.list_jobs(request);
    RETURN_IF_ERROR(page.status());
    jobs.insert(jobs.end(), page.value().jobs().begin(), page.value().jobs().end());
    if (page.value().next_cursor().empty() || jobs.size() >= kJobsMax) return jobs;
    request.set_cursor(page.value().next_cursor());
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
      if (!means(word, job) || !passes(selection, job)) continue;
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

Result<std::vector<std::string>> find_selected(Client& client, const JobSelection& selection) {
  const bool needs_jobs =
      selection.has_filters() || !selection.user.empty() ||
      std::any_of(selection.words.begin(), selection.words.end(), [](const std::string& word) {
        return is_pattern(word) || id_range(word).has_value();
      });
  if (!needs_jobs) return selection.words;
  const Result<std::vector<v1::Job>> own = own_jobs(client, selection);
  RETURN_IF_ERROR(own.status());
  return select_jobs(selection, own.value());
}

}  // namespace hai::cli
