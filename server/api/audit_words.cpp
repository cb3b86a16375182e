#include "server/api/audit_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "common/count_of.h"
#include "common/whole_number.h"
#include "proto/json/json_plan.h"
#include "server/model/job.h"

namespace hai {
namespace {

// "stop", as people say it.
template <typename Request>
std::string verb_of(int action) {
  const JsonField* verbs = json_plan_of(Request::descriptor()).find("verb");
  const auto found = verbs->words.find(action);
  return found == verbs->words.end() || action == 0 ? "" : found->second;
}

std::string with_reason(std::string text, const std::string& reason) {
  if (reason.empty()) return text;
  return text.empty() ? reason : fmt::format("{}: {}", text, reason);
}

std::string quota_target(const std::string& owner, const std::string& group,
                         const std::string& priority) {
  return fmt::format("quota/{}/{}/{}", owner, group, priority);
}

// One outcome for all that ended alike, in the order in which they first appear.
void add_outcomes(const std::vector<std::pair<Status, std::string>>& results, AuditFacts& facts) {
  std::map<Code, std::vector<std::string>> targets;
  std::vector<Status> ends;
  for (const auto& [status, target] : results) {
    std::vector<std::string>& alike = targets[status.code()];
    if (alike.empty()) ends.push_back(status);
    alike.push_back(target);
  }
  for (const Status& status : ends) {
    facts.outcomes.push_back({.status = status, .target = audit_targets(targets[status.code()])});
  }
}

template <typename Results>
void add_control_results(std::string_view kind, const Results& results, AuditFacts& facts) {
  std::vector<std::pair<Status, std::string>> ends;
  for (const v1::ControlResult& result : results) {
    const std::string name = result.job_id() > 0 ? std::to_string(result.job_id()) : result.name();
    const auto code = static_cast<Code>(result.code());
    ends.emplace_back(code == Code::ok ? ok() : Status(code, result.message()),
                      audit_target(kind, name));
  }
  add_outcomes(ends, facts);
}

}  // namespace

std::string audit_target(std::string_view kind, std::string_view name) {
  return name.empty() ? "" : fmt::format("{}/{}", kind, name.substr(0, 100));
}

std::string audit_targets(const std::vector<std::string>& targets) {
  std::string text;
  size_t told = 0;
  for (const std::string& target : targets) {
    if (told > 0 && text.size() + target.size() + 2 > kAuditTargetBytesMax) {
      return fmt::format("{}, and {} more", text, targets.size() - told);
    }
    text += (told++ == 0 ? "" : ", ") + target;
  }
  return text;
}

namespace audit {

std::string job_target(std::string_view job) {
  if (const auto id = whole_number<int64_t>(job)) return audit_target("job", std::to_string(*id));
  if (const auto task = parse_array_task(job)) {
    return audit_target("job", fmt::format("{}_{}", task->array.value, task->index));
  }
  return audit_target("job", job);
}

// Its name, until it has a number.
std::string target_of(const v1::SubmitJobRequest& request) {
  return audit_target("job", request.spec().name());
}
std::string target_of(const v1::ControlJobRequest& request) {
  std::vector<std::string> targets;
  for (const std::string& job : request.jobs()) targets.push_back(job_target(job));
  return audit_targets(targets);
}
std::string target_of(const v1::ControlNodeRequest& request) {
  std::vector<std::string> targets;
  for (const std::string& node : request.nodes()) targets.push_back(audit_target("node", node));
  return audit_targets(targets);
}
std::string target_of(const v1::CloseIncidentRequest& request) {
  return audit_target("incident", std::to_string(request.id()));
}
std::string target_of(const v1::SetQuotaRequest& request) {
  return quota_target(request.owner(), request.group(), request.priority());
}
std::string target_of(const v1::DeleteQuotaRequest& request) {
  return quota_target(request.owner(), request.group(), request.priority());
}
std::string target_of(const v1::SetUserRequest& request) {
  return audit_target("user", request.name());
}
std::string target_of(const v1::RevokeTokenRequest& request) {
  return audit_target("token", request.id());
}
std::string target_of(const v1::SetKnobRequest& request) {
  return audit_target("knob", request.name());
}
std::string target_of(const v1::UnsetKnobRequest& request) {
  return audit_target("knob", request.name());
}
std::string target_of(const v1::SetSecretRequest& request) {
  return audit_target("secret", request.name());
}
std::string target_of(const v1::DeleteSecretRequest& request) {
  return audit_target("secret",
                      (request.user().empty() ? "" : request.user() + "/") + request.name());
}
std::string target_of(const v1::CreateJoinTokenRequest& request) {
  return audit_target("node", request.nodes());
}
std::string target_of(const v1::RevokeJoinTokenRequest& request) {
  return audit_target("token", request.id());
}
std::string target_of(const v1::JoinNodeRequest& request) {
  return audit_target("node", request.name());
}
std::string target_of(const v1::RevokeNodeIdentityRequest& request) {
  return audit_target("node", request.name());
}
std::string target_of(const v1::GetNodeRequest& request) {
  return audit_target("node", request.name());
}
std::string target_of(const v1::ListNodeJobsRequest& request) {
  return audit_target("node", request.name());
}

std::string detail_of(const v1::ControlJobRequest& request) {
  return with_reason(verb_of<v1::ControlJobRequest>(request.action()), request.reason());
}
std::string detail_of(const v1::ControlNodeRequest& request) {
  return with_reason(verb_of<v1::ControlNodeRequest>(request.action()), request.reason());
}
std::string detail_of(const v1::SetJobPriorityRequest& request) { return request.priority(); }
std::string detail_of(const v1::MoveJobRequest& request) {
  if (request.first()) return "first";
  if (request.last()) return "last";
  return "before " + request.before();
}
std::string detail_of(const v1::EditJobRequest& request) {
  std::string text;
  if (!request.timeout().empty()) text += ", timeout " + request.timeout();
  if (request.has_node_count()) text += ", " + count_of(request.node_count(), "node");
  if (!request.priority().empty()) text += ", priority " + request.priority();
  if (request.has_begin_at_us()) {
    text += ", begin " + format_rfc3339(unix_micros(request.begin_at_us()));
  }
  if (request.begin_now()) text += ", begin now";
  if (request.has_array_limit()) {
    text += ", " + count_of(request.array_limit(), "task") + " at once";
  }
  if (request.set_tags()) text += ", " + count_of(request.tags_size(), "tag");
  return text.empty() ? "" : text.substr(2);
}
std::string detail_of(const v1::RerunJobRequest& request) { return "as job " + request.job(); }
std::string detail_of(const v1::CloseIncidentRequest& request) { return request.reason(); }
std::string detail_of(const v1::SetQuotaRequest& request) {
  return request.nodes() < 0 ? "no limit" : count_of(request.nodes(), "node");
}
std::string detail_of(const v1::SetUserRequest& request) {
  std::string text;
  if (request.has_role()) text += " role " + request.role();
  if (request.has_active()) text += request.active() ? " active" : " not active";
  if (request.set_groups()) text += fmt::format(" {} groups", request.groups_size());
  return text.empty() ? "" : text.substr(1);
}
std::string detail_of(const v1::CreateTokenRequest& request) { return request.label(); }
std::string detail_of(const v1::SetKnobRequest& request) { return request.value(); }
std::string detail_of(const v1::SignInRequest& request) {
  switch (request.proof_case()) {
    case v1::SignInRequest::kToken:
      return "token";
    case v1::SignInRequest::kMunge:
      return "munge";
    case v1::SignInRequest::kDeviceCode:
      return "device code";
    case v1::SignInRequest::PROOF_NOT_SET:
      break;
  }
  return "";
}
std::string detail_of(const v1::RevokeNodeIdentityRequest& request) { return request.reason(); }
std::string detail_of(const v1::SearchLogRequest& request) {
  const std::string where =
      request.has_rank() ? fmt::format("rank {}", request.rank()) : "all ranks";
  return where + ", search";
}

std::string detail_of(const v1::ReadLogRequest& request) {
  return fmt::format("rank {}{}", request.rank(), request.follow() ? ", following" : "");
}

}  // namespace audit

void tell_reply(const v1::SubmitJobReply& reply, AuditFacts& facts) {
  facts.outcomes.push_back({.status = ok(),
                            .target = audit_target("job", std::to_string(reply.job_id())),
                            .job = reply.job_id()});
}

// A batch is one entry for all jobs that were taken.
void tell_reply(const v1::SubmitJobsReply& reply, AuditFacts& facts) {
  int64_t first = 0;
  int64_t last = 0;
  int64_t count = 0;
  std::vector<std::pair<Status, std::string>> refused;
  for (const v1::SubmitResult& result : reply.results()) {
    if (result.code() != v1::CODE_OK) {
      refused.emplace_back(Status(static_cast<Code>(result.code()), result.message()),
                           audit_target("job", result.name()));
      continue;
    }
    if (count++ == 0) first = result.job_id();
    first = std::min(first, result.job_id());
    last = std::max(last, result.job_id());
  }
  if (count > 0) {
    const std::string range =
        first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
    facts.outcomes.push_back({.status = ok(),
                              .target = audit_target("job", range),
                              .detail = fmt::format("{} jobs", count)});
  }
  add_outcomes(refused, facts);
}

void tell_reply(const v1::ControlJobReply& reply, AuditFacts& facts) {
  add_control_results("job", reply.results(), facts);
}

void tell_reply(const v1::ControlNodeReply& reply, AuditFacts& facts) {
  add_control_results("node", reply.results(), facts);
}

void tell_reply(const v1::CreateTokenReply& reply, AuditFacts& facts) {
  facts.target = audit_targets(
      {audit_target("user", reply.token().user()), audit_target("token", reply.token().id())});
}

void tell_reply(const v1::CreateJoinTokenReply& reply, AuditFacts& facts) {
  facts.target = audit_targets(
      {audit_target("node", reply.token().nodes()), audit_target("token", reply.token().id())});
}

void tell_reply(const v1::SignInReply& reply, AuditFacts& facts) {
  facts.user = reply.user();
  facts.target = audit_target("user", reply.user());
}

}  // namespace hai
