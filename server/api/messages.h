#pragma once
// Views → the messages of the Api (proto/hai/v1/api.proto), which are what people see, and requests
// → what the server understands. Texts that came from programs are made valid UTF-8 here: protobuf
// would refuse the whole answer for one bad byte.

#include "hai/v1/api.pb.h"
#include "server/api/actions.h"
#include "server/api/advisor.h"
#include "server/api/cluster_series.h"
#include "server/api/job_census.h"
#include "server/api/log_tail.h"
#include "server/api/progress_board.h"
#include "server/api/queries.h"

namespace hai {

enum class WithSpec { no, yes };
void to_proto(const JobView& view, WithSpec with_spec, v1::Job& out);
void to_proto(const AttemptView& view, v1::Attempt& out);
void to_proto(const NodeView& view, v1::Node& out);
void to_proto(const NodeStay& stay, v1::NodeStay& out);
void to_proto(const ClusterSummary& summary, const CensusView& census, v1::Cluster& out);
void to_proto(const ClusterSeries::Window& window, v1::ClusterSeries& out);
void to_proto(const IncidentView& view, v1::Incident& out);
void to_proto(const WhoAmIView& view, v1::WhoAmIReply& out);
void to_proto(const EventView& view, v1::Event& out);
void to_proto(const QuotaView& view, v1::Quota& out);
void to_proto(const User& user, v1::User& out);
void to_proto(const Token& token, v1::Token& out);
void to_proto(const Secret& secret, v1::Secret& out);
void to_proto(const LogPiece& piece, v1::ReadLogReply& out);
void to_proto(const ProgressPoint& point, v1::ProgressPoint& out);
// Of an event checkpoint_reported; false if it is none.
bool to_proto(const EventView& event, v1::JobCheckpoint& out);
void to_proto(const ActionResult& result, v1::ControlResult& out);
void to_proto(const ActionResult& result, v1::SubmitResult& out);

void to_proto(const WhyView& view, v1::WhyJobReply& out);
void to_proto(const WhatIfView& view, v1::WhatIfReply& out);

Result<JobListRequest> from_proto(const v1::ListJobsRequest& message);
Result<EventListRequest> from_proto(const v1::ListEventsRequest& message);
Result<MoveJob> from_proto(const v1::MoveJobRequest& message);
Result<EditJob> from_proto(const v1::EditJobRequest& message);
// An idempotency key of a submit.
Status check_request_id(const std::string& request_id);
Result<Change> from_proto(const v1::WhatIfRequest& message);
Result<NodeListRequest> from_proto(const v1::ListNodesRequest& message);
Result<IncidentListRequest> from_proto(const v1::ListIncidentsRequest& message);
Result<LogTailRequest> log_tail_of(const v1::ReadLogRequest& message);
Result<Submission> from_proto(const v1::SubmitJobRequest& message);

// "*" or "" = every level: nullopt.
Result<std::optional<Priority>> parse_quota_priority(const std::string& text);
// 0 = the default; 1 .. max as given.
Result<int> page_size(int asked, int standard, int max);
// Of a field that people fill; outside 1970 to 9999 no time can be written, and sums overflow.
Result<UnixTime> asked_time(std::string_view field, int64_t micros);
// A cursor that this server gave: a number; nullopt for "".
Result<std::optional<int64_t>> parse_cursor(const std::string& text);

}  // namespace hai
