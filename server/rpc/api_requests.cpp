// Requests of the Api: protobuf → plain, total.

#include <charconv>

#include "server/rpc/api_convert.h"

namespace hai {

namespace {

// A cursor is the last id of the page before; nobody but us needs to know.
Result<JobId> parse_cursor(const std::string& text) {
  if (text.empty()) return JobId{};
  int64_t id = 0;
  const char* end = text.data() + text.size();
  auto parsed = std::from_chars(text.data(), end, id);
  if (parsed.ec != std::errc() || parsed.ptr != end || id <= 0) {
    return invalid_argument("cursor {} is none that this server gave", text);
  }
  return JobId{id};
}

}  // namespace

Result<JobListRequest> from_proto(const v1::ListJobsRequest& message) {
  JobListRequest request{.user = message.user(),
                         .only_mine = message.user().empty() && !message.all_users(),
                         .group = message.group(),
                         .include_finished = message.include_finished(),
                         .limit = page_size(message.page_size(), kPageDefault)};
  for (const std::string& text : message.states()) {
    const std::optional<JobState> state = parse_enum<JobState>(text);
    if (!state) {
      return invalid_argument(
          "state {} is none of queued, running, suspended, succeeded, failed, stopped", text);
    }
    request.states.push_back(*state);
  }
  request.tags.assign(message.tags().begin(), message.tags().end());
  Result<JobId> before = parse_cursor(message.cursor());
  if (!before.is_ok()) return before.status();
  request.before = before.value();
  return request;
}

Result<EventListRequest> from_proto(const v1::ListEventsRequest& message) {
  if (message.after_seq() < 0) return invalid_argument("after_seq is {}", message.after_seq());
  EventListRequest request{.job = message.job(),
                           .node = message.node(),
                           .kinds = {message.kinds().begin(), message.kinds().end()},
                           .limit = page_size(message.page_size(), kPageDefault)};
  if (!message.newest_first()) {
    request.after_seq = message.after_seq();
  } else if (message.after_seq() > 0) {
    request.before_seq = message.after_seq();
  }
  return request;
}

NodeListRequest from_proto(const v1::ListNodesRequest& message) {
  return {.group = message.group(),
          .zone = message.zone(),
          .leaf = message.leaf(),
          .liveness = message.liveness(),
          .scheduling = message.scheduling(),
          .after = message.cursor(),
          .limit = page_size(message.page_size(), kPageMax)};
}

Result<JobVerb> from_proto(v1::JobAction action) {
  switch (action) {
    case v1::JOB_ACTION_STOP:
      return JobVerb::stop;
    case v1::JOB_ACTION_SUSPEND:
      return JobVerb::suspend;
    case v1::JOB_ACTION_RESUME:
      return JobVerb::resume;
    case v1::JOB_ACTION_HOLD:
      return JobVerb::hold;
    case v1::JOB_ACTION_RELEASE:
      return JobVerb::release;
    default:
      return invalid_argument("action has the unknown value {}", static_cast<int>(action));
  }
}

Result<NodeVerb> from_proto(v1::NodeAction action) {
  switch (action) {
    case v1::NODE_ACTION_CORDON:
      return NodeVerb::cordon;
    case v1::NODE_ACTION_DRAIN:
      return NodeVerb::drain;
    case v1::NODE_ACTION_UNDRAIN:
      return NodeVerb::undrain;
    case v1::NODE_ACTION_FENCE:
      return NodeVerb::fence;
    case v1::NODE_ACTION_VALIDATE:
      return NodeVerb::validate;
    default:
      return invalid_argument("action has the unknown value {}", static_cast<int>(action));
  }
}

Result<std::optional<Priority>> parse_quota_priority(const std::string& text) {
  if (text.empty() || text == "*") return std::optional<Priority>();
  Result<Priority> priority = parse_priority(text);
  if (!priority.is_ok()) return priority.status();
  return std::optional(priority.value());
}

}  // namespace hai
