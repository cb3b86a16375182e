// Jobs: submit, look, control, ask.

#include "common/spec/job_spec_yaml.h"
#include "proto/convert/spec_convert.h"
#include "server/api/actions.h"
#include "server/api/advisor.h"
#include "server/api/answers.h"
#include "server/api/observatory.h"
#include "server/api/operations.h"

namespace hai {

namespace {

// As it can be submitted again by who sees all of it.
std::string spec_of(const Queries::FoundJob& found) {
  const std::shared_ptr<const JobSpec> shown = shown_spec(found.job.spec, found.seen);
  std::string hidden;
  if (found.seen < Seen::program) {
    hidden =
        fmt::format("# what it runs: shown to {}, who shares a user group, and operators only\n",
                    found.job.user);
  } else if (shown != found.job.spec) {
    hidden =
        fmt::format("# environments and secrets: shown to {} and operators only\n", found.job.user);
  }
  JobSpec spec = *shown;
  spec.priority = found.job.priority;
  return hidden + format_job_spec_yaml(spec);
}

Result<std::vector<Submission>> submissions_of(const v1::SubmitJobsRequest& request) {
  std::vector<Submission> submissions;
  for (int i = 0; i < request.jobs_size(); ++i) {
    Result<Submission> submission = from_proto(request.jobs(i));
    if (!submission.is_ok()) {
      return Status(submission.status().code(),
                    fmt::format("jobs[{}]: {}", i, submission.status().message()));
    }
    submissions.push_back(std::move(submission).value());
  }
  return submissions;
}

}  // namespace

Prepared<v1::SubmitJobReply> OperationBodies::SubmitJob(const v1::SubmitJobRequest& request) {
  Result<Submission> submission = from_proto(request);
  if (!submission.is_ok()) return submission.status();
  return [this, submission = std::move(submission).value()](
             const Caller& caller, Answer<v1::SubmitJobReply> answer) mutable {
    parts_.actions.submit_job(
        caller, std::move(submission),
        answer_with<CommandReply>(answer, [](const CommandReply& done, v1::SubmitJobReply& reply) {
          reply.set_job_id(done.job.value);
          reply.set_name(done.name);
        }));
  };
}

Prepared<v1::SubmitJobsReply> OperationBodies::SubmitJobs(const v1::SubmitJobsRequest& request) {
  Result<std::vector<Submission>> submissions = submissions_of(request);
  if (!submissions.is_ok()) return submissions.status();
  return [this, submissions = std::move(submissions).value()](
             const Caller& caller, Answer<v1::SubmitJobsReply> answer) mutable {
    parts_.actions.submit_jobs(
        caller, std::move(submissions),
        answer_with<std::vector<ActionResult>>(
            answer, [](const std::vector<ActionResult>& results, v1::SubmitJobsReply& reply) {
              add_all(results, reply.mutable_results());
            }));
  };
}

Prepared<v1::DryRunJobReply> OperationBodies::DryRunJob(const v1::DryRunJobRequest& request) {
  Result<JobSpec> spec = from_proto(request.spec());
  if (!spec.is_ok()) return spec.status();
  return [this, spec = std::move(spec).value()](const Caller& caller,
                                                Answer<v1::DryRunJobReply> answer) {
    parts_.advisor.dry_run(
        caller, spec,
        answer_with<CommandReply>(answer, [spec](const CommandReply&, v1::DryRunJobReply& reply) {
          reply.set_valid(true);
          reply.set_spec(format_job_spec_yaml(spec));
        }));
  };
}

Prepared<v1::Job> OperationBodies::GetJob(const v1::GetJobRequest& request) {
  return [this, job = request.job()](const Caller& caller, Answer<v1::Job> answer) {
    parts_.queries.get_job(caller, job,
                           answer_with<JobView>(answer, [](const JobView& view, v1::Job& reply) {
                             to_proto(view, WithSpec::yes, reply);
                           }));
  };
}

Prepared<v1::GetJobSpecReply> OperationBodies::GetJobSpec(const v1::GetJobSpecRequest& request) {
  return [this, job = request.job()](const Caller& caller, Answer<v1::GetJobSpecReply> answer) {
    parts_.queries.find_job(
        caller, job,
        answer_with<Queries::FoundJob>(
            answer, [](const Queries::FoundJob& found, v1::GetJobSpecReply& reply) {
              reply.set_yaml(spec_of(found));
            }));
  };
}

Prepared<v1::ListJobsReply> OperationBodies::ListJobs(const v1::ListJobsRequest& request) {
  Result<JobListRequest> list = from_proto(request);
  if (!list.is_ok()) return list.status();
  return [this, list = std::move(list).value()](const Caller& caller,
                                                Answer<v1::ListJobsReply> answer) {
    parts_.queries.list_jobs(
        caller, list,
        answer_with<JobPage>(answer, [](const JobPage& page, v1::ListJobsReply& reply) {
          for (const JobView& job : page.jobs) to_proto(job, WithSpec::no, *reply.add_jobs());
          if (page.next) {
            reply.set_next_cursor(std::to_string(page.next.value));
          } else if (page.after) {
            reply.set_next_cursor(format_place(*page.after));
          }
          if (page.total) reply.set_total(*page.total);
        }));
  };
}

Prepared<v1::ListAttemptsReply> OperationBodies::ListAttempts(
    const v1::ListAttemptsRequest& request) {
  Result<int> limit = page_size(request.page_size(), kPageDefault, kPageMax);
  if (!limit.is_ok()) return limit.status();
  return [this, job = request.job(), limit = limit.value()](const Caller& caller,
                                                            Answer<v1::ListAttemptsReply> answer) {
    parts_.queries.list_attempts(
        caller, job, limit,
        answer_with<std::vector<AttemptView>>(
            answer, [](const std::vector<AttemptView>& attempts, v1::ListAttemptsReply& reply) {
              add_all(attempts, reply.mutable_attempts());
            }));
  };
}

Prepared<v1::ListCheckpointsReply> OperationBodies::ListCheckpoints(
    const v1::ListCheckpointsRequest& request) {
  EventListRequest list{.job = request.job(), .kinds = {"checkpoint_reported"}};
  Result<int> limit = page_size(request.page_size(), kPageDefault, kPageMax);
  if (!limit.is_ok()) return limit.status();
  Result<std::optional<int64_t>> before = parse_cursor(request.cursor());
  if (!before.is_ok()) return before.status();
  list.limit = limit.value();
  list.before_seq = before.value();
  return [this, list](const Caller& caller, Answer<v1::ListCheckpointsReply> answer) {
    parts_.queries.list_events(
        caller, list,
        answer_with<EventPage>(answer, [](const EventPage& page, v1::ListCheckpointsReply& reply) {
          for (const EventView& event : page.events) {
            v1::JobCheckpoint checkpoint;
            if (to_proto(event, checkpoint)) *reply.add_checkpoints() = std::move(checkpoint);
          }
          if (page.next) reply.set_next_cursor(std::to_string(*page.next));
        }));
  };
}

Prepared<v1::Progress> OperationBodies::GetProgress(const v1::GetProgressRequest& request) {
  return [this, job = request.job()](const Caller& caller, Answer<v1::Progress> answer) {
    parts_.queries.find_job(caller, job, [this, answer](Result<Queries::FoundJob> found) {
      if (!found.is_ok()) return answer(found.status());
      // Its program says how far it is.
      if (found.value().seen < Seen::program)
        return answer(Fill<v1::Progress>([](v1::Progress&) {}));
      answer(Fill<v1::Progress>(
          [points = parts_.observatory.progress().points(found.value().job.id)](
              v1::Progress& reply) { add_all(points, reply.mutable_points()); }));
    });
  };
}

Prepared<v1::ControlJobReply> OperationBodies::ControlJob(const v1::ControlJobRequest& request) {
  return [this, jobs = std::vector<std::string>(request.jobs().begin(), request.jobs().end()),
          action = request.action(),
          reason = request.reason()](const Caller& caller, Answer<v1::ControlJobReply> answer) {
    parts_.actions.control_jobs(
        caller, jobs, action, reason,
        answer_with<std::vector<ActionResult>>(
            answer, [](const std::vector<ActionResult>& results, v1::ControlJobReply& reply) {
              add_all(results, reply.mutable_results());
            }));
  };
}

Prepared<v1::Job> OperationBodies::SetJobPriority(const v1::SetJobPriorityRequest& request) {
  Result<Priority> priority = parse_priority(request.priority());
  if (!priority.is_ok()) return priority.status();
  return [this, job = request.job(), priority = priority.value()](const Caller& caller,
                                                                  Answer<v1::Job> answer) {
    parts_.actions.set_priority(
        caller, job, priority,
        answer_with_job(parts_.queries, caller, answer,
                        [](const JobView& view, const std::string&, v1::Job& reply) {
                          to_proto(view, WithSpec::no, reply);
                        }));
  };
}

Prepared<v1::EditJobReply> OperationBodies::EditJob(const v1::EditJobRequest& request) {
  Result<hai::EditJob> edit = from_proto(request);
  if (!edit.is_ok()) return edit.status();
  return [this, edit = std::move(edit).value()](const Caller& caller,
                                                Answer<v1::EditJobReply> answer) {
    parts_.actions.edit_job(caller, edit,
                            answer_with_job(parts_.queries, caller, answer,
                                            [](const JobView& view, const std::string& message,
                                               v1::EditJobReply& reply) {
                                              to_proto(view, WithSpec::no, *reply.mutable_job());
                                              reply.set_message(message);
                                            }));
  };
}

Prepared<v1::SubmitJobReply> OperationBodies::RerunJob(const v1::RerunJobRequest& request) {
  RETURN_IF_ERROR(check_request_id(request.request_id()));
  return [this, request](const Caller& caller, Answer<v1::SubmitJobReply> answer) {
    parts_.queries.find_job(
        caller, request.job(), [this, caller, request, answer](Result<Queries::FoundJob> found) {
          if (!found.is_ok()) return answer(found.status());
          parts_.actions.rerun_job(
              caller, std::make_shared<const Job>(std::move(found).value().job), request.name(),
              request.request_id(),
              answer_with<CommandReply>(answer,
                                        [](const CommandReply& done, v1::SubmitJobReply& reply) {
                                          reply.set_job_id(done.job.value);
                                          reply.set_name(done.name);
                                        }));
        });
  };
}

Prepared<v1::MoveJobReply> OperationBodies::MoveJob(const v1::MoveJobRequest& request) {
  Result<hai::MoveJob> move = from_proto(request);
  if (!move.is_ok()) return move.status();
  return [this, move = std::move(move).value()](const Caller& caller,
                                                Answer<v1::MoveJobReply> answer) {
    parts_.actions.move_job(caller, move,
                            answer_with_job(parts_.queries, caller, answer,
                                            [](const JobView& view, const std::string& message,
                                               v1::MoveJobReply& reply) {
                                              to_proto(view, WithSpec::no, *reply.mutable_job());
                                              reply.set_message(message);
                                            }));
  };
}

Prepared<v1::WhyJobReply> OperationBodies::WhyJob(const v1::WhyJobRequest& request) {
  return [this, job = request.job(), with_estimate = request.with_estimate()](
             const Caller& caller, Answer<v1::WhyJobReply> answer) {
    parts_.advisor.why(caller, job, with_estimate,
                       answer_with<WhyView>(answer, [](const WhyView& why, v1::WhyJobReply& reply) {
                         to_proto(why, reply);
                       }));
  };
}

Prepared<v1::WhatIfReply> OperationBodies::WhatIf(const v1::WhatIfRequest& request) {
  Result<Change> change = from_proto(request);
  if (!change.is_ok()) return change.status();
  return [this, change = std::move(change).value()](const Caller& caller,
                                                    Answer<v1::WhatIfReply> answer) {
    parts_.advisor.what_if(
        caller, change,
        answer_with<WhatIfView>(
            answer, [](const WhatIfView& view, v1::WhatIfReply& reply) { to_proto(view, reply); }));
  };
}

Prepared<v1::ListEventsReply> OperationBodies::ListEvents(const v1::ListEventsRequest& request) {
  Result<EventListRequest> list = from_proto(request);
  if (!list.is_ok()) return list.status();
  return [this, list = std::move(list).value()](const Caller& caller,
                                                Answer<v1::ListEventsReply> answer) {
    parts_.queries.list_events(
        caller, list,
        answer_with<EventPage>(answer, [](const EventPage& page, v1::ListEventsReply& reply) {
          add_all(page.events, reply.mutable_events());
          reply.set_next_seq(page.next.value_or(0));
        }));
  };
}

}  // namespace hai
