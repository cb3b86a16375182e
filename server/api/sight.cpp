#include "server/api/sight.h"

#include <algorithm>

#include "common/ascii.h"
#include "common/whole_number.h"
#include "server/api/text_limits.h"

namespace hai {

namespace {

constexpr std::string_view kJob = "job ";
constexpr std::string_view kOf = " of ";

// A job's title at the beginning of a text.
struct Title {
  size_t number_end = 0;  // after "job 17" or "job 17_3"; 0 = there is none
  size_t end = 0;
  std::string user;  // "" = it does not say
};

Title title_at(std::string_view text) {
  Title title;
  size_t at = kJob.size();
  const auto skip_digits = [&] {
    while (at < text.size() && is_digit(text[at])) ++at;
  };
  skip_digits();
  if (at == kJob.size()) return title;
  if (text.substr(at).starts_with('_')) {  // "17_3" is a task of an array
    ++at;
    skip_digits();
  }
  if (!text.substr(at).starts_with(" (")) return title;
  const size_t closing = text.find(')', at);
  if (closing == std::string_view::npos) return title;
  title.number_end = at;
  title.end = closing + 1;
  if (!text.substr(title.end).starts_with(kOf)) return title;
  const size_t begin = title.end + kOf.size();
  size_t end = begin;
  while (end < text.size() && is_person_char(text[end])) ++end;
  title.user = text.substr(begin, end - begin);
  title.end = end;
  return title;
}

}  // namespace

bool Team::contains(const std::string& user) const {
  return std::ranges::any_of(groups_, [&](const auto& group) { return group->contains(user); });
}

std::set<std::string_view> Team::names() const {
  std::set<std::string_view> all;
  for (const auto& group : groups_) all.insert(group->begin(), group->end());
  return all;
}

bool Team::operator==(const Team& other) const {
  return groups_ == other.groups_ || names() == other.names();
}

Seen Sight::of(const std::string& user) const {
  if (!self.empty() && user == self) return Seen::all;
  if (team.contains(user)) return Seen::program;
  return of_others;
}

Seen Sight::of(const std::string& user, const JobSpec& spec) const {
  const Seen seen = of(user);
  const bool is_shared = spec.is_shared_in_group && team.contains(user);
  return is_shared ? std::max(seen, Seen::logs) : seen;
}

Status Sight::check(const ClusterState& state, const std::vector<std::string>& jobs) const {
  if (!misses_jobs()) return ok();
  for (const std::string& text : jobs) {
    const std::optional<int64_t> id = whole_number(text);
    const Job* job = id ? state.find(JobId{*id}) : nullptr;
    if (const auto task = parse_array_task(text)) {
      job = state.find_task(*task);
      if (job == nullptr) job = state.find(task->array);  // it is still to come
    }
    if (job != nullptr && !sees(job->user)) return not_found("job {} does not exist", text);
  }
  return ok();
}

std::string Sight::clean(std::string text) const {
  if (!misses_jobs()) return text;
  std::string cleaned;
  size_t done = 0;
  for (size_t at = 0; (at = text.find(kJob, at)) != std::string::npos;) {
    const Title title = title_at(std::string_view(text).substr(at));
    if (title.number_end == 0) {
      at += kJob.size();
      continue;
    }
    const bool is_seen = !title.user.empty() && sees(title.user);
    if (!is_seen) {
      cleaned.append(text, done, at - done);
      cleaned += title.user.empty() ? text.substr(at, title.number_end) : "a job of somebody else";
      done = at + title.end;
    }
    at += title.end;
  }
  return cleaned.append(text, done);
}

JobId job_of_incident(std::string_view subject) {
  constexpr std::string_view kAboutJob = "job/";
  if (!subject.starts_with(kAboutJob)) return {};
  return JobId{whole_number(subject.substr(kAboutJob.size())).value_or(0)};
}

std::string row_of_hang(std::string_view summary) {
  const Title title = summary.starts_with(kJob) ? title_at(summary) : Title{};
  return std::string(title.end == 0 ? "a job" : summary.substr(0, title.end)) + " hangs";
}

Status check_sharing(Visibility visibility, const JobSpec& spec) {
  if (!spec.is_shared_in_group || visibility != Visibility::own) return ok();
  return failed_precondition(
      "options.shared_in_group: on this cluster nobody sees others' jobs (visibility: own); leave "
      "it out");
}

std::shared_ptr<const JobSpec> shown_spec(std::shared_ptr<const JobSpec> spec, Seen seen) {
  if (seen == Seen::all) return spec;
  if (seen >= Seen::program) {
    if (spec->environments.empty() && spec->secrets.empty()) return spec;
    auto shown = std::make_shared<JobSpec>(*spec);
    shown->environments.clear();
    shown->secrets.clear();
    return shown;
  }
  // What is not named here is not shown: a new field must be thought about.
  auto row = std::make_shared<JobSpec>();
  row->name = spec->name;
  row->priority = spec->priority;
  row->array = spec->array;
  row->group = spec->group;
  row->zone = spec->zone;
  row->node_count = spec->node_count;
  row->gpus_per_node = spec->gpus_per_node;
  row->cpus_per_node = spec->cpus_per_node;
  row->memory_per_node_bytes = spec->memory_per_node_bytes;
  row->node_filter = spec->node_filter;
  row->launch = spec->launch;
  row->suspend = spec->suspend;
  row->checkpoint_period = spec->checkpoint_period;
  row->restart = spec->restart;
  row->timeout = spec->timeout;
  row->watchdog = spec->watchdog;
  row->max_leaves = spec->max_leaves;
  row->cross_zone = spec->cross_zone;
  row->is_interactive = spec->is_interactive;
  row->releases_early = spec->releases_early;
  row->is_shared_in_group = spec->is_shared_in_group;
  row->depends_on = spec->depends_on;
  row->begin_at = spec->begin_at;
  row->is_validation = spec->is_validation;
  return row;
}

}  // namespace hai
