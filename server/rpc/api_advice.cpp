// Why a job waits, what a change would do, and a user's own order.

#include "proto/convert/spec_convert.h"
#include "server/rpc/api_convert.h"
#include "server/rpc/api_service.h"
#include "server/rpc/unary_call.h"

namespace hai {

grpc::ServerUnaryReactor* ApiService::WhyJob(grpc::CallbackServerContext* context,
                                             const v1::WhyJobRequest* request,
                                             v1::WhyJobReply* reply) {
  return on_loop(
      site_, context, [this, caller = caller_of(*context), request, reply](UnaryCall call) {
        advisor_.why(
            caller, request->job(), request->with_estimate(),
            finish_with<WhyView>(call, [reply](const WhyView& why) { to_proto(why, *reply); }));
      });
}

grpc::ServerUnaryReactor* ApiService::WhatIf(grpc::CallbackServerContext* context,
                                             const v1::WhatIfRequest* request,
                                             v1::WhatIfReply* reply) {
  Result<Change> change = from_proto(*request);
  if (!change.is_ok()) return refuse(context, change.status());
  return on_loop(site_, context,
                 [this, caller = caller_of(*context), reply,
                  change = std::move(change).value()](UnaryCall call) {
                   advisor_.what_if(caller, change,
                                    finish_with<WhatIfView>(call, [reply](const auto& view) {
                                      to_proto(view, *reply);
                                    }));
                 });
}

grpc::ServerUnaryReactor* ApiService::MoveJob(grpc::CallbackServerContext* context,
                                              const v1::MoveJobRequest* request,
                                              v1::MoveJobReply* reply) {
  Result<hai::MoveJob> move = from_proto(*request);
  if (!move.is_ok()) return refuse(context, move.status());
  return on_loop(
      site_, context,
      [this, caller = caller_of(*context), reply, move = std::move(move).value()](UnaryCall call) {
        actions_.move_job(caller, move, [this, caller, reply, call](Result<CommandReply> done) {
          if (!done.is_ok()) return call.finish(to_grpc(done.status()));
          reply->set_message(done.value().message);
          queries_.get_job(caller, std::to_string(done.value().job.value),
                           finish_with<JobView>(call, [reply](const JobView& job) {
                             to_proto(job, WithSpec::no, *reply->mutable_job());
                           }));
        });
      });
}

void to_proto(const WhyView& view, v1::WhyJobReply& out) {
  to_proto(view.job, WithSpec::no, *out.mutable_job());
  *out.mutable_reason() = out.job().pending_reason();
  for (const BlockingFact& fact : view.facts) {
    v1::BlockingFact& each = *out.add_facts();
    each.set_code(std::string(to_string(fact.kind)));
    each.set_text(fact.text);
    each.mutable_holders()->Assign(fact.holders.begin(), fact.holders.end());
  }
  if (view.start_p50) out.set_start_p50_us(to_micros(*view.start_p50));
  if (view.start_p90) out.set_start_p90_us(to_micros(*view.start_p90));
  out.set_estimate_note(view.estimate_note);
  if (view.jobs_before) out.set_jobs_before(*view.jobs_before);
}

void to_proto(const WhatIfView& view, v1::WhatIfReply& out) {
  out.set_text(view.text);
  for (const DifferenceView& each : view.differences) {
    v1::JobDifference& difference = *out.add_differences();
    difference.set_job_id(each.difference.job.value);
    difference.set_name(each.name);
    difference.set_user(each.user);
    difference.set_priority(std::string(to_string(each.priority)));
    difference.set_effect(std::string(to_string(each.difference.effect)));
    difference.set_text(each.difference.text);
    difference.mutable_nodes()->Assign(each.difference.nodes.begin(), each.difference.nodes.end());
    difference.mutable_nodes_before()->Assign(each.difference.nodes_before.begin(),
                                              each.difference.nodes_before.end());
  }
  out.set_differences_left_out(static_cast<int32_t>(view.left_out));
  if (view.job) to_proto(*view.job, *out.mutable_job());
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
    default:
      return invalid_argument("what if what: submit, drain, quota or priority");
  }
}

}  // namespace hai
