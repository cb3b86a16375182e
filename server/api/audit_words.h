#pragma once
// The facts of a call for the audit log, made of its request and its answer.

#include <string>

#include "hai/v1/api.pb.h"
#include "server/api/audit_facts.h"

namespace hai {

namespace audit {

// A job as it was asked for; one of a number in one way, however many zeros it was given.
std::string job_target(std::string_view job);

// What stands in the fields that requests share; what is otherwise named has its own below.
template <typename Request>
std::string target_of(const Request& request) {
  if constexpr (requires { request.job(); }) {
    return job_target(request.job());
  } else if constexpr (requires { request.owner(); }) {
    return audit_target("quota", request.owner());
  } else if constexpr (requires { audit_target("user", request.user()); }) {
    return audit_target("user", request.user());
  } else {
    return "";
  }
}
std::string target_of(const v1::SubmitJobRequest& request);
std::string target_of(const v1::ControlJobRequest& request);
std::string target_of(const v1::ControlNodeRequest& request);
std::string target_of(const v1::CloseIncidentRequest& request);
std::string target_of(const v1::SetQuotaRequest& request);
std::string target_of(const v1::DeleteQuotaRequest& request);
std::string target_of(const v1::SetUserRequest& request);
std::string target_of(const v1::RevokeTokenRequest& request);
std::string target_of(const v1::SetKnobRequest& request);
std::string target_of(const v1::UnsetKnobRequest& request);
std::string target_of(const v1::SetSecretRequest& request);
std::string target_of(const v1::DeleteSecretRequest& request);
std::string target_of(const v1::CreateJoinTokenRequest& request);
std::string target_of(const v1::RevokeJoinTokenRequest& request);
std::string target_of(const v1::JoinNodeRequest& request);
std::string target_of(const v1::RevokeNodeIdentityRequest& request);
std::string target_of(const v1::GetNodeRequest& request);
std::string target_of(const v1::ListNodeJobsRequest& request);

template <typename Request>
std::string detail_of(const Request&) {
  return "";
}
std::string detail_of(const v1::ControlJobRequest& request);
std::string detail_of(const v1::ControlNodeRequest& request);
std::string detail_of(const v1::SetJobPriorityRequest& request);
std::string detail_of(const v1::MoveJobRequest& request);
std::string detail_of(const v1::EditJobRequest& request);
std::string detail_of(const v1::RerunJobRequest& request);
std::string detail_of(const v1::CloseIncidentRequest& request);
std::string detail_of(const v1::SetQuotaRequest& request);
std::string detail_of(const v1::SetUserRequest& request);
std::string detail_of(const v1::CreateTokenRequest& request);
std::string detail_of(const v1::SetKnobRequest& request);
std::string detail_of(const v1::SignInRequest& request);
std::string detail_of(const v1::RevokeNodeIdentityRequest& request);
std::string detail_of(const v1::ReadLogRequest& request);
std::string detail_of(const v1::SearchLogRequest& request);

template <typename Reply>
inline constexpr bool kTellsMore = false;
template <>
inline constexpr bool kTellsMore<v1::SubmitJobReply> = true;
template <>
inline constexpr bool kTellsMore<v1::SubmitJobsReply> = true;
template <>
inline constexpr bool kTellsMore<v1::ControlJobReply> = true;
template <>
inline constexpr bool kTellsMore<v1::ControlNodeReply> = true;
template <>
inline constexpr bool kTellsMore<v1::CreateTokenReply> = true;
template <>
inline constexpr bool kTellsMore<v1::CreateJoinTokenReply> = true;
template <>
inline constexpr bool kTellsMore<v1::SignInReply> = true;

}  // namespace audit

template <typename Request>
void tell_request(const Request& request, AuditFacts& facts) {
  facts.target = audit::target_of(request);
  facts.detail = audit::detail_of(request);
}

void tell_reply(const v1::SubmitJobReply& reply, AuditFacts& facts);
void tell_reply(const v1::SubmitJobsReply& reply, AuditFacts& facts);
void tell_reply(const v1::ControlJobReply& reply, AuditFacts& facts);
void tell_reply(const v1::ControlNodeReply& reply, AuditFacts& facts);
void tell_reply(const v1::CreateTokenReply& reply, AuditFacts& facts);
void tell_reply(const v1::CreateJoinTokenReply& reply, AuditFacts& facts);
void tell_reply(const v1::SignInReply& reply, AuditFacts& facts);

}  // namespace hai
