// Jobs and attempts. What is in memory is newer than the history, so it wins where both know a job.

#include <algorithm>

#include "common/whole_number.h"
#include "server/api/first_task.h"
#include "server/api/queries.h"
#include "server/api/text_limits.h"
#include "server/model/find_job.h"

namespace hai {

namespace {

std::optional<JobId> parse_job_id(const std::string& text) {
  const std::optional<int64_t> id = whole_number(text);
  return id && *id > 0 ? std::optional(JobId{*id}) : std::nullopt;
}

const Job* newest_of_name(const ClusterState& state, const std::string& user,
                          const std::string& name) {
  for (auto it = state.jobs().rbegin(); it != state.jobs().rend(); ++it) {
    if (it->second.array_task) continue;  // its array has the name
    if (it->second.user == user && it->second.spec->name == name) return &it->second;
  }
  return nullptr;
}

// not_found if it is a task that is still to come of an array that the caller sees.
Status check_is_made(const ClusterState& state, const Sight& sight, const std::string& job) {
  const std::optional<ArrayTask> task = parse_array_task(job);
  if (!task) return ok();
  const auto found = state.unfinished_arrays().find(task->array);
  if (found == state.unfinished_arrays().end()) return ok();
  const Job& array = *state.find(task->array);
  const ArrayRange& range = found->second;
  if (!sight.sees(array.user)) return ok();
  if (!range.contains(task->index)) {
    return not_found("array {} has no task {}: its tasks are {}", task->array.value, task->index,
                     range.text_from(0));
  }
  if (array.array.is_made(range, task->index)) return ok();
  const int next = range.at(array.array.next());
  return not_found("task {} of array {} is still to come{}; `hai why {}` says how far the array is",
                   task->index, task->array.value,
                   next == task->index ? ", as the next one" : fmt::format(", after task {}", next),
                   task->array.value);
}

// Of a group or with a tag there may be few among millions, and no index leads to them: each page
// looks at so many jobs at most, some tenths of a second, and the next one goes on below them.
constexpr int64_t kJobsPerScan = 200'000;

// Ranks and reasons say in words what the program did.
AttemptView visible_attempt(AttemptView view, const std::string& user, const Sight& sight) {
  if (sight.of(user) < Seen::program) {
    view.end_reason.clear();
    for (RankView& rank : view.ranks) rank.message.clear();
  }
  view.end_reason = sight.clean(std::move(view.end_reason));
  return view;
}

}  // namespace

Status Queries::FoundJob::check_log() const {
  if (seen < Seen::logs) {
    return permission_denied(
        "job {} belongs to {}: only he and operators read its logs, and his user group where the "
        "job says shared_in_group",
        job.id.value, job.user);
  }
  if (!job.is_array()) return ok();
  return failed_precondition("job {} is an array, whose tasks have the logs: name one, as {}",
                             job.id.value, first_task_of(job));
}

void Queries::find_job(const Caller& caller, const std::string& job, Done<FoundJob> done) {
  auto missing = [done](const std::string& text, const Actor& actor) {
    const std::string shown = asked_name(text);
    if (parse_job_id(text)) return done(not_found("job {} does not exist", shown));
    if (const auto task = parse_array_task(text)) {
      return done(not_found(
          "array {} has no task {}; `hai list --array {} --finished` lists those that were made",
          task->array.value, task->index, task->array.value));
    }
    done(not_found("{} has no job named {}", actor.user, shown));
  };
  auto found = [this, job, done, missing](const Controller::ReadContext& context,
                                          const Actor& actor, const Job& value) {
    const Sight sight = sight_of(context.state, actor);
    const Seen seen = sight.of(value.user, *value.spec);
    if (seen == Seen::nothing) return missing(job, actor);
    done(FoundJob{.job = value,
                  .view = visible_view(view_job(context.state, value, context.soft), sight),
                  .seen = seen});
  };
  auto look = [this, caller, job, done, found, missing](const Controller::ReadContext& context,
                                                        const Actor& actor) {
    const std::optional<JobId> id = parse_job_id(job);
    const Job* known = hai::find_job(context.state, actor.user, job);
    if (known == nullptr && !id && history_ == nullptr) {
      known = newest_of_name(context.state, actor.user, job);
    }
    if (known != nullptr) return found(context, actor, *known);
    if (const Status status = check_is_made(context.state, sight_of(context.state, actor), job);
        !status.is_ok()) {
      return done(status);
    }
    if (history_ == nullptr) return missing(job, actor);
    if (context.stale_since) {
      return done(unavailable("job {} is not in memory, and the database cannot be reached", job));
    }
    JobKey key = id ? JobKey{.job = *id}
                    : JobKey{.user = actor.user, .name = job, .task = parse_array_task(job)};
    history_->job(std::move(key), [this, caller, id, job, done, found, missing](Result<Job> old) {
      if (!old.is_ok() && old.status().code() != Code::not_found) return done(old.status());
      controller_.read(
          caller,
          [=](const Controller::ReadContext& again, const Actor& same) {
            // It knows of a number whether there never was such a job, or it was archived.
            if (!old.is_ok() && id) return done(old.status());
            if (!old.is_ok()) return missing(job, same);
            found(again, same, old.value());
          },
          done);
    });
  };
  controller_.read(caller, look, done);
}

void Queries::get_job(const Caller& caller, const std::string& job, Done<JobView> done) {
  find_job(caller, job, [done](Result<FoundJob> found) {
    if (!found.is_ok()) return done(found.status());
    done(std::move(found).value().view);
  });
}

void Queries::list_jobs(const Caller& caller, const JobListRequest& request, Done<JobPage> done) {
  if (request.limit < 1 || request.limit > kPageMax) {
    return done(invalid_argument("a page has 1 to {} jobs, {} asked", kPageMax, request.limit));
  }
  if (wants_finished(request) && history_ != nullptr) {
    if (!request.order.is_newest_first() || request.count_all) {
      return done(invalid_argument(
          "finished jobs are listed newest first and not counted: leave out sort and total, or ask "
          "for unfinished ones"));
    }
    return jobs_of_history(caller, request, std::move(done));
  }
  scan_jobs(controller_, caller, request, sights_, std::move(done));
}

void Queries::jobs_of_history(const Caller& caller, const JobListRequest& request,
                              Done<JobPage> done) {
  // What the history cannot filter is matched here, so a page may come out short; `next` is right
  // anyway.
  auto answer = [this, caller, request, done](Result<std::vector<Job>> jobs, std::string user,
                                              JobId down_to) {
    if (!jobs.is_ok()) return done(jobs.status());
    controller_.read(
        caller,
        [this, request, done, user, down_to, jobs = std::move(jobs).value()](
            const Controller::ReadContext& context, const Actor& actor) {
          const Sight sight = sight_of(context.state, actor);
          JobPage page;
          for (const Job& old : jobs) {
            const Job* known = context.state.find(old.id);
            const Job& job = known == nullptr ? old : *known;
            if (!matches(job, request, user, sight)) continue;
            page.jobs.push_back(visible_view(view_job(context.state, job, context.soft), sight));
          }
          const bool is_full = jobs.size() == static_cast<size_t>(request.limit);
          if (is_full) page.next = jobs.back().id;
          if (!is_full && down_to.value > 1) page.next = down_to;
          done(std::move(page));
        },
        done);
  };
  controller_.read(
      caller,
      [this, caller, request, answer, done](const Controller::ReadContext& context,
                                            const Actor& actor) {
        const Sight sight = sight_of(context.state, actor);
        const bool sees_one = sight.misses_jobs() && sight.team.empty();
        const std::string user =
            request.only_mine || (sees_one && request.user.empty()) ? actor.user : request.user;
        // The history is as far away as the rest of the database: what is in memory has to do.
        if (context.stale_since) return scan_jobs(controller_, caller, request, sights_, done);
        if (!user.empty() && !sight.sees(user)) return done(JobPage{});
        // A full page says where it ended, and so that there is such a job, which may be hidden.
        const bool sees_rows = !sight.misses_jobs() || !user.empty();
        const bool sees_tags = !sight.is_limited() || user == actor.user;
        JobQuery query{.user = user,
                       .tag = sees_tags && !request.tags.empty() ? request.tags.front() : "",
                       .before = request.before,
                       .limit = request.limit};
        if (sees_rows) {
          query.states = request.states;
          query.group = request.group;
          query.ended_since = request.ended_since;
        }
        if (!query.group.empty() || !query.tag.empty() || query.ended_since) {
          const JobId end = query.before ? query.before : JobId{context.state.last_job().value + 1};
          query.down_to = JobId{std::max<int64_t>(1, end.value - kJobsPerScan)};
        }
        history_->jobs(std::move(query),
                       [answer, user, down_to = query.down_to](Result<std::vector<Job>> jobs) {
                         answer(std::move(jobs), user, down_to);
                       });
      },
      done);
}

void Queries::list_attempts(const Caller& caller, const std::string& job, int limit,
                            Done<std::vector<AttemptView>> done) {
  if (limit < 1 || limit > kPageMax) {
    return done(invalid_argument("a page has 1 to {} attempts, {} asked", kPageMax, limit));
  }
  // The newest attempt is the one in memory; the history may not have its last changes yet.
  auto merge = [this, caller, limit, done](const Job& found, std::vector<Attempt> attempts) {
    if (found.attempt) {
      std::erase_if(attempts, [&](const Attempt& attempt) {
        return attempt.number == found.attempt->number;
      });
      attempts.push_back(*found.attempt);
    }
    controller_.read(
        caller,
        [this, done, limit, id = found.id, user = found.user, attempts = std::move(attempts)](
            const Controller::ReadContext& context, const Actor& actor) {
          const Sight sight = sight_of(context.state, actor);
          std::vector<AttemptView> views;
          for (auto it = attempts.rbegin();
               it != attempts.rend() && views.size() < static_cast<size_t>(limit); ++it) {
            views.push_back(visible_attempt(view_attempt(context.state, id, *it), user, sight));
          }
          done(std::move(views));
        },
        done);
  };
  find_job(caller, job, [this, merge, done](Result<FoundJob> found) {
    if (!found.is_ok()) return done(found.status());
    if (history_ == nullptr || controller_.standing().stale_since) {
      return merge(found.value().job, {});
    }
    const JobId id = found.value().job.id;
    history_->attempts(
        id, [merge, done, job = found.value().job](Result<std::vector<Attempt>> attempts) {
          if (!attempts.is_ok()) return done(attempts.status());
          merge(job, std::move(attempts).value());
        });
  });
}

}  // namespace hai
