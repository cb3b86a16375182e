// The part of the actions by which jobs come in: checked, with their images and the folders of
// nodes looked at, and sealed, before the controller decides.

#include "common/spec/check_job_spec.h"
#include "server/api/actions.h"
#include "server/api/launch_look.h"
#include "server/api/sealed_environments.h"
#include "server/control/verbs/dependencies.h"
#include "server/control/verbs/rerun.h"

namespace hai {

namespace {

// A spec that has nothing wrong but, perhaps, what it is edited to.
Status check_edit(const EditJob& edit) {
  JobSpec spec{.name = "j", .workspace = "/", .entrypoint = "j"};
  if (edit.timeout) spec.timeout = *edit.timeout;
  if (edit.tags) spec.tags = *edit.tags;
  if (edit.node_count) spec.node_count = *edit.node_count;
  if (edit.begin_at) spec.begin_at = edit.begin_at;
  if (edit.array_limit && (*edit.array_limit < 0 || *edit.array_limit > kArrayTasksMax)) {
    return invalid_argument("array_limit: 0 (none) to {}, is {}", kArrayTasksMax,
                            *edit.array_limit);
  }
  return to_status(check_job_spec(spec));
}

}  // namespace

void Actions::submit_job(const Caller& caller, Submission submission, Done<CommandReply> done) {
  if (Status status = to_status(check_job_spec(submission.spec)); !status.is_ok()) {
    return done(status);
  }
  if (!wants_pin(caller, submission).empty()) {
    auto one = std::make_shared<std::vector<Submission>>(1, std::move(submission));
    return pin_images(caller, one, 0,
                      [this, caller, one, done] { submit_pinned(caller, one->front(), done); });
  }
  submit_pinned(caller, std::move(submission), std::move(done));
}

void Actions::submit_pinned(const Caller& caller, Submission submission, Done<CommandReply> done) {
  if (submission.spec.depends_on.empty()) {
    return submit_checked(caller, std::move(submission), {}, std::move(done));
  }
  ended_jobs_.find(caller, {submission.spec},
                   [this, caller, submission, done](Result<std::vector<EndedJob>> history) mutable {
                     if (!history.is_ok()) return done(history.status());
                     submit_checked(caller, std::move(submission), std::move(history).value(),
                                    done);
                   });
}

// For whom to ask a registry: for who may submit only, and once for one submit. "" = nobody.
std::string Actions::wants_pin(const Caller& caller, const Submission& submission) const {
  if (submission.spec.image.empty() || settings_.images == nullptr) return "";
  const ClusterState& state = controller_.state();
  const Result<Actor> actor = authenticate(state, caller, controller_.soft_facts().now);
  if (!actor.is_ok() || actor.value().scope == TokenScope::read) return "";
  const std::string& user = actor.value().user;
  const std::string& id = submission.request_id;
  return id.empty() || !state.find_request(user, id).has_value() ? user : "";
}

void Actions::pin_images(const Caller& caller, Submissions submissions, size_t index,
                         std::function<void()> next) {
  std::string user;
  for (; index < submissions->size() && user.empty(); ++index) {
    user = wants_pin(caller, (*submissions)[index]);
  }
  if (user.empty()) return next();
  Submission& one = (*submissions)[index - 1];
  settings_.images->pin(one.spec.image, user,
                        [this, caller, user, submissions, &one, index, next](const auto& pinned) {
                          one.image = pinned.status();
                          if (pinned.is_ok()) one.spec.image = pinned.value();
                          look_at_node(user, one, [this, caller, submissions, index, next] {
                            pin_images(caller, submissions, index, next);
                          });
                        });
}

void Actions::look_at_node(const std::string& user, Submission& one, std::function<void()> next) {
  if (!one.image.is_ok() || !settings_.ask_node || !wants_look(one.spec)) return next();
  const std::string node = node_to_look_at(controller_.state(), one.spec);
  if (node.empty()) return next();
  settings_.ask_node(node, words_of_look(one.spec, user), [&one, next](const Status& seen) {
    one.image = seen;
    next();
  });
}

void Actions::submit_checked(const Caller& caller, Submission submission,
                             std::vector<EndedJob> history, Done<CommandReply> done) {
  JobSpec& spec = submission.spec;
  Status status = submission.image;
  if (status.is_ok()) status = check_sharing(settings_.sights.visibility(), spec);
  if (status.is_ok()) {
    status = seal_for(controller_, caller, settings_.sealer, submission.request_id, spec);
  }
  if (status.is_ok()) status = check_seen(caller, dependency_jobs(spec));
  if (!status.is_ok()) return done(status);
  change(
      caller,
      SubmitJob{std::move(submission.spec), std::move(submission.request_id), std::move(history)},
      std::move(done));
}

void Actions::rerun_job(const Caller& caller, std::shared_ptr<const Job> old,
                        const std::string& name, const std::string& request_id,
                        Done<CommandReply> done) {
  Submission submission{spec_to_rerun(controller_.state(), *old), request_id};
  if (!name.empty()) submission.spec.name = name;
  if (Status status = to_status(check_job_spec(submission.spec)); !status.is_ok()) {
    return done(status);
  }
  ended_jobs_.find(
      caller, {submission.spec},
      [this, caller, old, name, submission, done](Result<std::vector<EndedJob>> history) {
        if (!history.is_ok()) return done(history.status());
        change(caller, RerunJob{old, name, submission.request_id, std::move(history).value()},
               done);
      });
}

void Actions::edit_job(const Caller& caller, EditJob edit, Done<CommandReply> done) {
  if (Status status = check_edit(edit); !status.is_ok()) return done(status);
  if (Status status = check_seen(caller, {edit.job}); !status.is_ok()) return done(status);
  change(caller, std::move(edit), std::move(done));
}

}  // namespace hai
