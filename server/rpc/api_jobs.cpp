// Jobs: submit, look, control.

#include <algorithm>

#include "proto/convert/spec_convert.h"
#include "server/rpc/api_convert.h"
#include "server/rpc/api_service.h"
#include "server/rpc/unary_call.h"

namespace hai {

namespace {

constexpr size_t kRequestIdBytesMax = 128;

Result<Submission> to_submission(const v1::SubmitJobRequest& request) {
  if (request.request_id().size() > kRequestIdBytesMax) {
    return invalid_argument("request_id has {} bytes, allowed is {}", request.request_id().size(),
                            kRequestIdBytesMax);
  }
  Result<JobSpec> spec = from_proto(request.spec());
  if (!spec.is_ok()) return spec.status();
  return Submission{std::move(spec).value(), request.request_id()};
}

}  // namespace

grpc::ServerUnaryReactor* ApiService::SubmitJob(grpc::CallbackServerContext* context,
                                                const v1::SubmitJobRequest* request,
                                                v1::SubmitJobReply* reply) {
  if (admission_.refuses(Admission::Kind::submit, 1)) return refuse_busy(site_, context);
  Result<Submission> submission = to_submission(*request);
  if (!submission.is_ok()) return refuse(context, submission.status());
  return on_loop(
      site_, context,
      [this, caller = caller_of(*context), reply,
       submission = std::move(submission).value()](UnaryCall call) mutable {
        actions_.submit_job(caller, std::move(submission),
                            finish_with<CommandReply>(call, [reply](const CommandReply& done) {
                              reply->set_job_id(done.job.value);
                              reply->set_name(done.name);
                            }));
      },
      Admission::Kind::submit);
}

grpc::ServerUnaryReactor* ApiService::SubmitJobs(grpc::CallbackServerContext* context,
                                                 const v1::SubmitJobsRequest* request,
                                                 v1::SubmitJobsReply* reply) {
  const int64_t weight = std::max(request->jobs_size(), 1);
  if (admission_.refuses(Admission::Kind::submit, weight)) return refuse_busy(site_, context);
  std::vector<Submission> submissions;
  for (int i = 0; i < request->jobs_size(); ++i) {
    Result<Submission> submission = to_submission(request->jobs(i));
    if (!submission.is_ok()) {
      return refuse(context, {submission.status().code(),
                              fmt::format("jobs[{}]: {}", i, submission.status().message())});
    }
    submissions.push_back(std::move(submission).value());
  }
  return on_loop(
      site_, context,
      [this, caller = caller_of(*context), reply,
       submissions = std::move(submissions)](UnaryCall call) mutable {
        actions_.submit_jobs(caller, std::move(submissions),
                             finish_with<std::vector<ActionResult>>(
                                 call, [reply](const std::vector<ActionResult>& results) {
                                   for (const ActionResult& result : results)
                                     to_proto(result, *reply->add_results());
                                 }));
      },
      Admission::Kind::submit, weight);
}

grpc::ServerUnaryReactor* ApiService::GetJob(grpc::CallbackServerContext* context,
                                             const v1::GetJobRequest* request, v1::Job* reply) {
  return on_loop(site_, context,
                 [this, caller = caller_of(*context), request, reply](UnaryCall call) {
                   queries_.get_job(caller, request->job(),
                                    finish_with<JobView>(call, [reply](const JobView& job) {
                                      to_proto(job, WithSpec::yes, *reply);
                                    }));
                 });
}

grpc::ServerUnaryReactor* ApiService::ListJobs(grpc::CallbackServerContext* context,
                                               const v1::ListJobsRequest* request,
                                               v1::ListJobsReply* reply) {
  Result<JobListRequest> list = from_proto(*request);
  if (!list.is_ok()) return refuse(context, list.status());
  return on_loop(
      site_, context,
      [this, caller = caller_of(*context), reply, list = std::move(list).value()](UnaryCall call) {
        queries_.list_jobs(caller, list, finish_with<JobPage>(call, [reply](const JobPage& page) {
                             for (const JobView& job : page.jobs)
                               to_proto(job, WithSpec::no, *reply->add_jobs());
                             if (page.next) reply->set_next_cursor(std::to_string(page.next.value));
                           }));
      });
}

grpc::ServerUnaryReactor* ApiService::ListAttempts(grpc::CallbackServerContext* context,
                                                   const v1::ListAttemptsRequest* request,
                                                   v1::ListAttemptsReply* reply) {
  return on_loop(
      site_, context, [this, caller = caller_of(*context), request, reply](UnaryCall call) {
        queries_.list_attempts(caller, request->job(),
                               page_size(request->page_size(), kPageDefault),
                               finish_with<std::vector<AttemptView>>(
                                   call, [reply](const std::vector<AttemptView>& attempts) {
                                     for (const AttemptView& attempt : attempts) {
                                       to_proto(attempt, *reply->add_attempts());
                                     }
                                   }));
      });
}

grpc::ServerUnaryReactor* ApiService::ControlJob(grpc::CallbackServerContext* context,
                                                 const v1::ControlJobRequest* request,
                                                 v1::ControlJobReply* reply) {
  Result<JobVerb> verb = from_proto(request->action());
  if (!verb.is_ok()) return refuse(context, verb.status());
  return on_loop(
      site_, context,
      [this, caller = caller_of(*context), request, reply, verb = verb.value()](UnaryCall call) {
        actions_.control_jobs(caller, {request->jobs().begin(), request->jobs().end()}, verb,
                              request->reason(),
                              finish_with<std::vector<ActionResult>>(
                                  call, [reply](const std::vector<ActionResult>& results) {
                                    for (const ActionResult& result : results)
                                      to_proto(result, *reply->add_results());
                                  }));
      });
}

grpc::ServerUnaryReactor* ApiService::SetJobPriority(grpc::CallbackServerContext* context,
                                                     const v1::SetJobPriorityRequest* request,
                                                     v1::Job* reply) {
  Result<Priority> priority = parse_priority(request->priority());
  if (!priority.is_ok()) return refuse(context, priority.status());
  return on_loop(site_, context,
                 [this, caller = caller_of(*context), request, reply,
                  priority = priority.value()](UnaryCall call) {
                   actions_.set_priority(
                       caller, request->job(), priority,
                       [this, caller, reply, call](Result<CommandReply> done) {
                         if (!done.is_ok()) return call.finish(to_grpc(done.status()));
                         queries_.get_job(caller, std::to_string(done.value().job.value),
                                          finish_with<JobView>(call, [reply](const JobView& job) {
                                            to_proto(job, WithSpec::no, *reply);
                                          }));
                       });
                 });
}

}  // namespace hai
