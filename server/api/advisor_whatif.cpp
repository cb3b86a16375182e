// What-if: the change is decided like a real one, by the same code, on a copy.

#include <fmt/ranges.h>

#include "common/check.h"
#include "common/hostlist.h"
#include "common/spec/check_job_spec.h"
#include "server/api/actions.h"
#include "server/api/advisor.h"
#include "server/api/nodes_by_name.h"
#include "server/api/text_limits.h"
#include "server/control/verbs/decide.h"
#include "server/control/verbs/dependencies.h"
#include "server/model/find_job.h"
#include "server/plan/snapshot.h"

namespace hai {
namespace {

constexpr size_t kWaitingMax = 20'000;

struct Decided {
  JobId job;         // whom the change is about, if it is a job
  std::string text;  // the change
};

// Anybody may ask: nothing is changed, and what is told is what everybody may see.
Actor as_admin(const Actor& actor) { return {actor.user, Role::admin}; }

class Deciding {
 public:
  Deciding(ClusterState& state, const Knobs& knobs, UnixTime now, const Actor& actor)
      : decision_(state, knobs, now), actor_(actor) {}

  Result<Decided> operator()(const SubmitChange& change) {
    Result<CommandReply> reply =
        decide(decision_, SubmitJob{change.spec, "", change.history}, actor_);
    if (!reply.is_ok()) return reply.status();
    return Decided{reply.value().job, fmt::format("submit {}", change.spec.name)};
  }
  Result<Decided> operator()(const DrainChange& change) {
    std::vector<std::string> unknown;
    for (const std::string& node : change.nodes) {
      if (decision_.state().find_node(node) == nullptr) unknown.push_back(node);
    }
    if (!unknown.empty()) return unknown_nodes(std::move(unknown));
    for (const std::string& node : change.nodes) {
      Result<CommandReply> reply = decide(decision_, DrainNode{node, "what if"}, as_admin(actor_));
      if (!reply.is_ok()) return reply.status();
    }
    return Decided{{}, "drain " + format_hostlist(change.nodes)};
  }
  Result<Decided> operator()(const QuotaChange& change) {
    Quota quota = change.quota;
    if (quota.nodes < 0) quota.nodes = Quota::kUnlimited;
    for (Priority level : kPriorities) {
      if (change.priority && *change.priority != level) continue;
      quota.priority = level;
      Result<CommandReply> reply = decide(decision_, SetQuota{quota}, as_admin(actor_));
      if (!reply.is_ok()) return reply.status();
    }
    return Decided{
        {},
        fmt::format("quota of {} in {}/{} is {}", quota.owner, quota.group,
                    change.priority ? to_string(*change.priority) : "*",
                    quota.nodes >= Quota::kUnlimited ? "unlimited" : std::to_string(quota.nodes))};
  }
  Result<Decided> operator()(const PriorityChange& change) {
    Result<CommandReply> reply =
        decide(decision_, SetJobPriority{change.job, change.priority}, as_admin(actor_));
    if (!reply.is_ok()) return reply.status();
    return Decided{reply.value().job,
                   fmt::format("priority of job {} is {}", reply.value().job.value,
                               to_string(change.priority))};
  }
  Result<Decided> operator()(const KnobChange& change) {
    Result<CommandReply> reply =
        decide(decision_, SetKnob{change.name, change.value, "what if"}, as_admin(actor_));
    if (!reply.is_ok()) return reply.status();
    return Decided{{}, fmt::format("knob {} is {}", change.name, reply.value().message)};
  }
  Result<Decided> operator()(const UserChange& change) {
    const User* known = decision_.state().find_user(change.name);
    User user = known == nullptr ? User{.name = change.name} : *known;
    if (change.role) user.role = *change.role;
    if (change.active) user.active = *change.active;
    if (change.groups) user.groups = *change.groups;
    Result<CommandReply> reply = decide(decision_, SetUser{user}, as_admin(actor_));
    if (!reply.is_ok()) return reply.status();
    return Decided{
        {},
        fmt::format(
            "user {} is {}, in {}", user.name, user.active ? "active" : "inactive",
            user.groups.empty() ? "no group" : fmt::format("{}", fmt::join(user.groups, ", ")))};
  }

 private:
  Decision decision_;
  const Actor& actor_;
};

// Those that hold after the change, which its decision has judged.
Knobs knobs_after(Knobs knobs, const Change& change) {
  const auto* knob = std::get_if<KnobChange>(&change);
  if (knob != nullptr) CHECK(set_knob(knobs, knob->name, knob->value).is_ok());
  return knobs;
}

// Host lists become names; what makes no sense is refused before anything is copied.
Status prepare(Change& change) {
  if (auto* submit = std::get_if<SubmitChange>(&change)) {
    return to_status(check_job_spec(submit->spec));
  }
  if (auto* quota = std::get_if<QuotaChange>(&change)) {
    if (quota->priority == Priority::automatic) {
      return invalid_argument("quota: auto is no level of its own");
    }
    return check_person("owner", quota->quota.owner);
  }
  if (const auto* user = std::get_if<UserChange>(&change)) {
    return check_person("user name", user->name);
  }
  auto* drain = std::get_if<DrainChange>(&change);
  if (drain == nullptr) return ok();
  Result<std::vector<std::string>> names = parse_hostlists(drain->nodes, kNodesAtOnceMax);
  if (!names.is_ok()) return names.status();
  if (names.value().empty()) return invalid_argument("1 to {} nodes at once", kNodesAtOnceMax);
  drain->nodes = std::move(names).value();
  return ok();
}

// Jobs that the change names must be in the copy, and the arrays whose tasks it may make.
SnapshotOptions options_for(const ClusterState& state, const Actor& actor, const Change& change,
                            size_t waiting_max) {
  SnapshotOptions options{.waiting_max = waiting_max, .secrets_of = actor.user};
  auto add = [&](const std::string& name) {
    const Job* job = find_job(state, actor.user, name);
    const std::optional<ArrayTask> task = parse_array_task(name);
    if (job == nullptr && task) job = state.find(task->array);  // it is still to come
    if (job == nullptr) return;
    options.also.push_back(job->id);
    if (job->is_array()) options.arrays.push_back(job->id);
    if (job->array_task) options.also.push_back(job->array_task->array);
  };
  if (const auto* priority = std::get_if<PriorityChange>(&change)) add(priority->job);
  if (const auto* submit = std::get_if<SubmitChange>(&change)) {
    options.also = state.all_unfinished(actor.user, submit->spec.name);
    for (const std::string& job : dependency_jobs(submit->spec)) add(job);
  }
  return options;
}

// Whom the change names must be somebody's whose jobs one sees.
Status check_seen(const ClusterState& state, const Sight& sight, const Change& change) {
  std::vector<std::string> jobs;
  if (const auto* priority = std::get_if<PriorityChange>(&change)) jobs = {priority->job};
  if (const auto* submit = std::get_if<SubmitChange>(&change)) jobs = dependency_jobs(submit->spec);
  return sight.check(state, jobs);
}

struct Thought {
  StoredState stored;
  Knobs knobs;
  UnixTime now{};
  RunTimes run_times;
  Actor actor;
  Sight sight;
  Change change;

  Result<WhatIfView> view = WhatIfView{};
  JobId job;
  std::optional<StartForecast> forecast;

  void answer() {
    const ClusterState live(std::move(stored));
    ClusterState changed = live;
    Result<Decided> decided = std::visit(Deciding(changed, knobs, now, actor), change);
    if (!decided.is_ok()) {
      view = decided.status();
      return;
    }
    WhatIfView found{.text = decided.value().text};
    const Settled before = settle(live, knobs, now);
    const Settled after = settle(changed, knobs_after(knobs, change), now);
    const ClusterState& state = after.cluster.state();
    for (JobDifference& difference : compare(live, before, after)) {
      const Job& job = *state.find(difference.job);
      const bool is_full = found.differences.size() == kDifferencesMax;
      if (is_full || !sight.sees(job.user)) {
        ++found.left_out;
        continue;
      }
      difference.text = sight.clean(std::move(difference.text));
      found.differences.push_back({std::move(difference), job.spec->name, job.user, job.priority});
    }
    job = decided.value().job;
    if (job) add_job(changed, after, found);
    view = std::move(found);
  }

  void add_job(const ClusterState& changed, const Settled& after, WhatIfView& found) {
    const ClusterState& state = after.cluster.state();
    const Job& settled = *state.find(job);
    WhyView& why = found.job.emplace();
    why.job = view_job(state, settled, {});
    if (settled.is_waiting()) why.job.pending_reason = after.cluster.pending_reason(job);
    why.job = visible_view(std::move(why.job), sight);
    if (settled.is_waiting()) {
      why.facts = visible_facts(blocking_set(state, knobs, now, job), sight);
    }
    if (changed.find(job)->is_waiting() && !settled.held) {
      forecast = forecast_start(changed, knobs, now, job, run_times, timed_forecast());
    }
  }
};

}  // namespace

// Decided like a submit, on a copy without the jobs that wait: it does not take long.
void Advisor::dry_run(const Caller& caller, JobSpec spec, Done<CommandReply> done) {
  Change change = SubmitChange{std::move(spec)};
  if (Status status = prepare(change); !status.is_ok()) return done(status);
  const JobSpec& checked = std::get<SubmitChange>(change).spec;
  if (Status status = check_sharing(queries_.visibility(), checked); !status.is_ok()) {
    return done(status);
  }
  ended_jobs_.find(caller, {std::get<SubmitChange>(change).spec},
                   [this, caller, change = std::get<SubmitChange>(change),
                    done](Result<std::vector<EndedJob>> history) mutable {
                     if (!history.is_ok()) return done(history.status());
                     change.history = std::move(history).value();
                     try_submit(caller, change, done);
                   });
}

void Advisor::try_submit(const Caller& caller, const SubmitChange& submit,
                         Done<CommandReply> done) {
  controller_.read(
      caller,
      [this, change = Change(submit), done](const Controller::ReadContext& context,
                                            const Actor& actor) {
        const Sight sight = queries_.sight_of(context.state, actor);
        if (const Status seen = check_seen(context.state, sight, change); !seen.is_ok()) {
          return done(seen);
        }
        const UnixTime now = loop_.wall_now();
        ClusterState copy(copy_for_planning(context.state, controller_.knobs(), now,
                                            options_for(context.state, actor, change, 0)));
        Decision decision(copy, controller_.knobs(), now);
        const auto& tried = std::get<SubmitChange>(change);
        done(decide(decision, SubmitJob{tried.spec, "", tried.history}, actor));
      },
      done);
}

void Advisor::what_if(const Caller& caller, Change change, Done<WhatIfView> done) {
  if (Status status = prepare(change); !status.is_ok()) return done(status);
  auto* submit = std::get_if<SubmitChange>(&change);
  if (submit != nullptr) submit->spec.array.clear();  // when its first task would start
  if (submit == nullptr) return think_what_if(caller, std::move(change), std::move(done));
  ended_jobs_.find(
      caller, {submit->spec},
      [this, caller, change = *submit, done](Result<std::vector<EndedJob>> history) mutable {
        if (!history.is_ok()) return done(history.status());
        change.history = std::move(history).value();
        think_what_if(caller, std::move(change), done);
      });
}

void Advisor::think_what_if(const Caller& caller, Change change, Done<WhatIfView> done) {
  controller_.read(
      caller,
      [this, change = std::move(change), done](const Controller::ReadContext& context,
                                               const Actor& actor) {
        const Sight sight = queries_.sight_of(context.state, actor);
        if (const Status seen = check_seen(context.state, sight, change); !seen.is_ok()) {
          return done(seen);
        }
        auto thought = std::make_shared<Thought>();
        thought->knobs = controller_.knobs();
        thought->now = loop_.wall_now();
        thought->stored = copy_for_planning(context.state, thought->knobs, thought->now,
                                            options_for(context.state, actor, change, kWaitingMax));
        thought->run_times = estimates_.run_times();
        thought->actor = actor;
        thought->sight = sight;
        thought->change = change;
        auto answer_later = scope_.bind([this, thought, done] {
          if (!thought->view.is_ok()) return done(thought->view.status());
          WhatIfView view = std::move(thought->view).value();
          if (thought->forecast) {
            // Nothing is promised for what has not happened.
            const StartForecast& forecast = *thought->forecast;
            if (forecast.p50) view.job->start_p50 = thought->now + *forecast.p50;
            if (forecast.p90) {
              view.job->start_p90 =
                  std::max(*view.job->start_p50,
                           thought->now + estimates_.calibration().widened(*forecast.p90));
            }
            view.job->estimate_note =
                fmt::format("the planner run ahead {} times, with run times learned from {} jobs",
                            forecast.samples, estimates_.run_times().count());
          }
          done(std::move(view));
        });
        // The callback is moved to the loop and destroyed there: its things belong to that thread.
        const bool is_taken = ahead_worker_.post(
            [&loop = loop_, thought, answer = std::move(answer_later)]() mutable {
              thought->answer();
              loop.post(std::move(answer));
            },
            thought->actor.user);
        if (is_taken) return;
        done(resource_exhausted(
            "{} questions wait to be thought about already; ask again in a while",
            QuestionWorker::kWaitingMax));
      },
      done);
}

}  // namespace hai
