// Requests of the Api: protobuf → plain, total.

#include "common/whole_number.h"
#include "proto/convert/spec_convert.h"
#include "server/api/messages.h"
#include "server/api/words.h"

namespace hai {

Result<std::optional<int64_t>> parse_cursor(const std::string& text) {
  if (text.empty()) return std::optional<int64_t>();
  const std::optional<int64_t> number = whole_number(text);
  if (!number || *number < 0) {
    return invalid_argument("cursor: {} is none that this server gave", text.substr(0, 100));
  }
  return number;
}

Result<int> page_size(int asked, int standard, int max) {
  if (asked == 0) return standard;
  if (asked < 0 || asked > max) {
    return invalid_argument("limit: must be 1 to {}, is {}", max, asked);
  }
  return asked;
}

Result<UnixTime> asked_time(std::string_view field, int64_t micros) {
  constexpr std::chrono::sys_days kEnd = std::chrono::year(10'000) / 1 / 1;
  if (micros >= 0 && Duration(micros) < kEnd.time_since_epoch()) return unix_micros(micros);
  return invalid_argument("{}: must be a time of the years 1970 to 9999", field);
}

namespace {

constexpr size_t kRequestIdBytesMax = 128;
constexpr size_t kSearchBytesMax = 200;

// A cursor belongs to the order it came with.
Status read_order(const v1::ListJobsRequest& message, JobListRequest& list) {
  if (!message.sort().empty()) {
    Result<JobOrder> order = parse_job_order(message.sort());
    if (!order.is_ok()) return order.status();
    list.order = order.value();
  }
  if (list.order.is_newest_first()) {
    Result<std::optional<int64_t>> before = parse_cursor(message.cursor());
    if (!before.is_ok()) return before.status();
    list.before = JobId{before.value().value_or(0)};
  } else if (!message.cursor().empty()) {
    Result<JobPlace> place = parse_place(message.cursor());
    if (!place.is_ok()) return place.status();
    list.after = place.value();
  }
  return ok();
}

}  // namespace

Result<JobListRequest> from_proto(const v1::ListJobsRequest& message) {
  Result<int> limit = page_size(message.page_size(), kPageDefault, kPageMax);
  if (!limit.is_ok()) return limit.status();
  JobListRequest request{.user = message.user(),
                         .only_mine = message.user().empty() && !message.all_users(),
                         .group = message.group(),
                         .tags = {message.tags().begin(), message.tags().end()},
                         .include_finished = message.include_finished(),
                         .reasons = {message.reasons().begin(), message.reasons().end()},
                         .tasks = message.tasks(),
                         .array = JobId{message.array()},
                         .text = message.text(),
                         .count_all = message.total(),
                         .limit = limit.value()};
  for (const std::string& text : message.states()) {
    const Result<JobState> state = kJobStates.read("state", text);
    if (!state.is_ok()) return state.status();
    request.states.push_back(state.value());
  }
  for (const std::string& text : message.priorities()) {
    Result<Priority> priority = parse_priority(text);
    if (!priority.is_ok()) return priority.status();
    request.priorities.push_back(priority.value());
  }
  for (const std::string& reason : request.reasons) {
    RETURN_IF_ERROR(kPendingCodes.read("reason", reason).status());
  }
  if (request.text.size() > kSearchBytesMax) {
    return invalid_argument("q: has {} bytes, allowed is {}", request.text.size(), kSearchBytesMax);
  }
  if (message.has_ended_since_us()) {
    const Result<UnixTime> since = asked_time("ended_since", message.ended_since_us());
    RETURN_IF_ERROR(since.status());
    request.ended_since = since.value();
  }
  RETURN_IF_ERROR(read_order(message, request));
  return request;
}

Result<EventListRequest> from_proto(const v1::ListEventsRequest& message) {
  Result<int> limit = page_size(message.page_size(), kPageDefault, kPageMax);
  if (!limit.is_ok()) return limit.status();
  EventListRequest request{.job = message.job(),
                           .node = message.node(),
                           .kinds = {message.kinds().begin(), message.kinds().end()},
                           .limit = limit.value()};
  if (message.after_seq() < 0) return invalid_argument("after: is {}", message.after_seq());
  if (message.has_after_seq()) request.after_seq = message.after_seq();
  if (message.before_seq() < 0) return invalid_argument("before: is {}", message.before_seq());
  if (message.has_before_seq()) request.before_seq = message.before_seq();
  return request;
}

Result<LogTailRequest> log_tail_of(const v1::ReadLogRequest& message) {
  if (message.max_bytes() < 0 || message.max_bytes() > kMaxLogChunkBytes) {
    return invalid_argument("max_bytes: 1 to {}, is {}", kMaxLogChunkBytes, message.max_bytes());
  }
  if (message.max_bytes() > 0 && message.follow()) {
    return invalid_argument("max_bytes: a part of a log is not followed; leave out one of both");
  }
  LogTailRequest tail{.job = message.job(),
                      .attempt = std::max(message.attempt(), 0),
                      .rank = std::max(message.rank(), -1),
                      .offset = message.offset(),
                      .tail_bytes = message.tail_bytes(),
                      .max_bytes = message.max_bytes(),
                      .follow = message.follow(),
                      .steps = message.steps()};
  if (tail.steps && tail.rank != 0) {
    return invalid_argument("rank: steps are of the whole job; leave out one of both");
  }
  if (message.has_since_us()) {
    const Result<UnixTime> since = asked_time("since", message.since_us());
    if (!since.is_ok()) return since.status();
    tail.since = since.value();
  }
  return tail;
}

Result<NodeListRequest> from_proto(const v1::ListNodesRequest& message) {
  Result<int> limit = page_size(message.page_size(), kPageMax, kNodePageMax);
  if (!limit.is_ok()) return limit.status();
  return NodeListRequest{.group = message.group(),
                         .zone = message.zone(),
                         .leaf = message.leaf(),
                         .liveness = message.liveness(),
                         .scheduling = message.scheduling(),
                         .after = message.cursor(),
                         .limit = limit.value()};
}

Result<IncidentListRequest> from_proto(const v1::ListIncidentsRequest& message) {
  if (!message.state().empty() && message.state() != "open" && message.state() != "closed") {
    return invalid_argument("state: {} is neither open nor closed", message.state());
  }
  Result<std::optional<int64_t>> before = parse_cursor(message.cursor());
  if (!before.is_ok()) return before.status();
  Result<int> limit = page_size(message.page_size(), kPageDefault, kPageMax);
  if (!limit.is_ok()) return limit.status();
  return IncidentListRequest{.closed = message.state() == "closed",
                             .before = IncidentId{before.value().value_or(0)},
                             .limit = limit.value()};
}

Status check_request_id(const std::string& request_id) {
  if (request_id.size() <= kRequestIdBytesMax) return ok();
  return invalid_argument("request_id (over REST: Idempotency-Key) has {} bytes, allowed is {}",
                          request_id.size(), kRequestIdBytesMax);
}

Result<Submission> from_proto(const v1::SubmitJobRequest& message) {
  RETURN_IF_ERROR(check_request_id(message.request_id()));
  Result<JobSpec> spec = from_proto(message.spec());
  if (!spec.is_ok()) return spec.status();
  return Submission{std::move(spec).value(), message.request_id()};
}

Result<std::optional<Priority>> parse_quota_priority(const std::string& text) {
  if (text.empty() || text == "*") return std::optional<Priority>();
  Result<Priority> priority = parse_priority(text);
  if (!priority.is_ok()) return priority.status();
  return std::optional(priority.value());
}

Result<EditJob> from_proto(const v1::EditJobRequest& message) {
  EditJob edit{.job = message.job()};
  if (!message.timeout().empty()) {
    Result<Duration> timeout = parse_duration(message.timeout());
    if (!timeout.is_ok()) return invalid_argument("timeout: {}", timeout.status().message());
    edit.timeout = timeout.value();
  }
  if (message.has_node_count()) edit.node_count = message.node_count();
  if (!message.priority().empty()) {
    Result<Priority> priority = parse_priority(message.priority());
    if (!priority.is_ok()) return priority.status();
    edit.priority = priority.value();
  }
  if (message.begin_now() && message.has_begin_at_us()) {
    return invalid_argument("begin_at and begin_now: only one of them");
  }
  if (message.has_begin_at_us()) {
    edit.begin_at = unix_micros(message.begin_at_us());
    if (*edit.begin_at <= UnixTime{}) return invalid_argument("begin_at: must be after 1970");
  }
  if (message.begin_now()) edit.begin_at = UnixTime{};
  if (message.has_array_limit()) edit.array_limit = message.array_limit();
  if (message.set_tags()) edit.tags.emplace(message.tags().begin(), message.tags().end());
  return edit;
}

Result<MoveJob> from_proto(const v1::MoveJobRequest& message) {
  switch (message.to_case()) {
    case v1::MoveJobRequest::kBefore:
      return MoveJob{message.job(), MoveJob::To::before, message.before()};
    case v1::MoveJobRequest::kFirst:
      return MoveJob{message.job(), MoveJob::To::first, ""};
    case v1::MoveJobRequest::kLast:
      return MoveJob{message.job(), MoveJob::To::last, ""};
    default:
      return invalid_argument("move where: before another job, first or last");
  }
}

Result<Change> from_proto(const v1::WhatIfRequest& message) {
  switch (message.change_case()) {
    case v1::WhatIfRequest::kSubmit: {
      Result<JobSpec> spec = from_proto(message.submit());
      if (!spec.is_ok()) return spec.status();
      return Change{SubmitChange{std::move(spec).value()}};
    }
    case v1::WhatIfRequest::kDrain:
      return Change{DrainChange{{message.drain().nodes().begin(), message.drain().nodes().end()}}};
    case v1::WhatIfRequest::kQuota: {
      const v1::SetQuotaRequest& quota = message.quota();
      Result<std::optional<Priority>> priority = parse_quota_priority(quota.priority());
      if (!priority.is_ok()) return priority.status();
      return Change{QuotaChange{{.owner = quota.owner(),
                                 .group = quota.group().empty() ? "*" : quota.group(),
                                 .nodes = quota.nodes()},
                                priority.value()}};
    }
    case v1::WhatIfRequest::kPriority: {
      Result<Priority> priority = parse_priority(message.priority().priority());
      if (!priority.is_ok()) return priority.status();
      return Change{PriorityChange{message.priority().job(), priority.value()}};
    }
    case v1::WhatIfRequest::kKnob:
      return Change{KnobChange{message.knob().name(), message.knob().value()}};
    case v1::WhatIfRequest::kUser: {
      UserChange change{.name = message.user().name()};
      if (message.user().has_role()) {
        const Result<Role> role = kRoles.read("role", message.user().role());
        if (!role.is_ok()) return role.status();
        change.role = role.value();
      }
      if (message.user().has_active()) change.active = message.user().active();
      if (message.user().set_groups()) {
        change.groups.emplace(message.user().groups().begin(), message.user().groups().end());
      }
      return Change{std::move(change)};
    }
    default:
      return invalid_argument("what if what: submit, drain, quota, priority, knob or user");
  }
}

}  // namespace hai
