#pragma once
// Views → protobuf, and the words of requests → enums. Texts that came from programs are made valid
// UTF-8 here: protobuf would refuse the whole answer for one bad byte.

#include "hai/v1/api.pb.h"
#include "server/api/actions.h"
#include "server/api/advisor.h"
#include "server/api/log_tail.h"
#include "server/api/queries.h"

namespace hai {

enum class WithSpec { no, yes };
void to_proto(const JobView& view, WithSpec with_spec, v1::Job& out);
void to_proto(const AttemptView& view, v1::Attempt& out);
void to_proto(const NodeView& view, v1::Node& out);
void to_proto(const ClusterSummary& summary, v1::Cluster& out);
void to_proto(const EventView& view, v1::Event& out);
void to_proto(const QuotaView& view, v1::Quota& out);
void to_proto(const User& user, v1::User& out);
void to_proto(const Token& token, v1::Token& out);
void to_proto(const LogPiece& piece, v1::ReadLogReply& out);
void to_proto(const ActionResult& result, v1::ControlResult& out);
void to_proto(const ActionResult& result, v1::SubmitResult& out);

void to_proto(const WhyView& view, v1::WhyJobReply& out);
void to_proto(const WhatIfView& view, v1::WhatIfReply& out);

Result<JobListRequest> from_proto(const v1::ListJobsRequest& message);
Result<EventListRequest> from_proto(const v1::ListEventsRequest& message);
Result<MoveJob> from_proto(const v1::MoveJobRequest& message);
Result<Change> from_proto(const v1::WhatIfRequest& message);
NodeListRequest from_proto(const v1::ListNodesRequest& message);
Result<JobVerb> from_proto(v1::JobAction action);
Result<NodeVerb> from_proto(v1::NodeAction action);

// "*" or "" = every level: nullopt.
Result<std::optional<Priority>> parse_quota_priority(const std::string& text);
// 0 = the default; 1 .. max as given.
int page_size(int asked, int standard);

}  // namespace hai
