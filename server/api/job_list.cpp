#include "server/api/job_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "common/ascii.h"
#include "common/whole_number.h"

namespace hai {

namespace {

constexpr std::pair<std::string_view, JobOrderBy> kOrders[] = {
    {"id", JobOrderBy::id},
    {"name", JobOrderBy::name},
    {"user", JobOrderBy::user},
    {"group", JobOrderBy::group},
    {"priority", JobOrderBy::priority},
    {"state", JobOrderBy::state},
    {"node_count", JobOrderBy::nodes},
    {"submitted_at", JobOrderBy::submitted},
    {"started_at", JobOrderBy::started},
    {"lost_gpu_seconds", JobOrderBy::lost}};

// `wanted` is in lower case.
bool contains(std::string_view text, std::string_view wanted) {
  const auto found =
      std::search(text.begin(), text.end(), wanted.begin(), wanted.end(),
                  [](char in_text, char in_wanted) { return to_lower(in_text) == in_wanted; });
  return found != text.end();
}

bool has_text(const Job& job, const std::string& text, Seen seen) {
  std::string wanted = text;
  for (char& c : wanted) c = to_lower(c);
  if (contains(job.spec->name, wanted) || contains(job.user, wanted)) return true;
  if (std::to_string(job.id.value) == wanted) return true;
  if (seen < Seen::program) return false;
  return std::ranges::any_of(job.spec->tags,
                             [&](const std::string& tag) { return contains(tag, wanted); });
}

Status bad_cursor() { return invalid_argument("cursor: is none that a list has given"); }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

Result<JobOrder> parse_job_order(std::string_view text) {
  JobOrder order{.descending = text.starts_with('-')};
  if (order.descending) text.remove_prefix(1);
  std::string known;
  for (const auto& [word, by] : kOrders) {
    if (word == text) {
      order.by = by;
      return order;
    }
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return invalid_argument("sort: {} is none of {}", text, known);
}

JobPlace place_of(const Job& job, JobOrderBy by) {
  JobPlace place{.id = job.id};
  switch (by) {
    case JobOrderBy::id:
      break;
    case JobOrderBy::name:
      place.text = job.spec->name;
      break;
    case JobOrderBy::user:
      place.text = job.user;
      break;
    case JobOrderBy::group:
      place.text = job.spec->group;
      break;
    case JobOrderBy::priority:
      place.number = static_cast<int>(job.priority);
      break;
    case JobOrderBy::state:
      place.number = static_cast<int>(job.state);
      break;
    case JobOrderBy::nodes:
      place.number = job.spec->node_count;
      break;
    case JobOrderBy::submitted:
      place.number = to_micros(job.submitted_at);
      break;
    case JobOrderBy::started:
      place.number = job.started_at ? to_micros(*job.started_at) : 0;
      break;
    case JobOrderBy::lost:
      place.number = job.counters.lost_gpu_seconds;
      break;
  }
  return place;
}

// The text in hexadecimal: a cursor passes through addresses as it is.
std::string format_place(const JobPlace& place) {
  std::string cursor = fmt::format("{}.{}.", place.id.value, place.number);
  for (char c : place.text) cursor += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return cursor;
}

Result<JobPlace> parse_place(std::string_view cursor) {
  const size_t first = cursor.find('.');
  const size_t second = first == std::string_view::npos ? first : cursor.find('.', first + 1);
  if (second == std::string_view::npos) return bad_cursor();
  const std::optional<int64_t> id = whole_number(cursor.substr(0, first));
  const std::optional<int64_t> number = whole_number(cursor.substr(first + 1, second - first - 1));
  if (!id || !number) return bad_cursor();
  JobPlace place;
  place.id.value = *id;
  place.number = *number;
  const std::string_view hex = cursor.substr(second + 1);
  if (hex.size() % 2 != 0) return bad_cursor();
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = hex_value(hex[i]);
    const int low = hex_value(hex[i + 1]);
    if (high < 0 || low < 0) return bad_cursor();
    place.text += static_cast<char>(high * 16 + low);
  }
  return place;
}

bool matches(const Job& job, const JobListRequest& request, const std::string& user,
             const Sight& sight) {
  const Seen seen = sight.of(job.user);
  if (seen == Seen::nothing) return false;
  if (!user.empty() && job.user != user) return false;
  if (request.array) {
    if (!job.array_task || job.array_task->array != request.array) return false;
  } else if (job.array_task && !request.tasks) {
    return false;
  }
  if (!request.group.empty() && job.spec->group != request.group) return false;
  if (!request.tags.empty() && seen < Seen::program) return false;
  for (const std::string& tag : request.tags) {
    if (std::ranges::find(job.spec->tags, tag) == job.spec->tags.end()) return false;
  }
  if (!request.priorities.empty() &&
      std::ranges::find(request.priorities, job.priority) == request.priorities.end()) {
    return false;
  }
  if (!request.reasons.empty() && job.is_terminal()) return false;
  if (!request.states.empty()) {
    if (std::ranges::find(request.states, job.state) == request.states.end()) return false;
  } else if (!request.include_finished && job.is_terminal()) {
    return false;
  }
  if (request.ended_since && job.ended_at && *job.ended_at < *request.ended_since) return false;
  return request.text.empty() || has_text(job, request.text, seen);
}

bool wants_finished(const JobListRequest& request) {
  if (!request.reasons.empty()) return false;  // only who waits has one
  if (request.states.empty()) return request.include_finished;
  return std::ranges::any_of(request.states, [](JobState state) { return is_terminal(state); });
}

JobView visible_view(JobView view, const Sight& sight) {
  const Seen seen = sight.of(view.user);
  if (seen < Seen::program) {
    view.end_reason.clear();
    view.last_attempt_reason.clear();
    view.checkpoint.reset();
    view.progress_step.reset();
    view.whole_life_state.clear();
  }
  view.end_reason = sight.clean(std::move(view.end_reason));
  view.last_attempt_reason = sight.clean(std::move(view.last_attempt_reason));
  if (view.pending_reason) {
    view.pending_reason->text = sight.clean(std::move(view.pending_reason->text));
  }
  view.spec = shown_spec(std::move(view.spec), seen);
  return view;
}

}  // namespace hai
