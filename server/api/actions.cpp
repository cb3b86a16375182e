#include "server/api/actions.h"

#include <algorithm>
#include <memory>

#include "common/hostlist.h"
#include "common/spec/check_job_spec.h"
#include "server/api/launch_secrets.h"
#include "server/api/nodes_by_name.h"
#include "server/api/text_limits.h"
#include "server/control/verbs/decide.h"

namespace hai {

namespace {

Status unknown_action(int action) {
  return invalid_argument("action has the unknown value {}", action);
}

Result<Command> command_of(v1::JobAction action, const std::string& job,
                           const std::string& reason) {
  switch (action) {
    case v1::JOB_ACTION_STOP:
      return Command(StopJob{job, reason});
    case v1::JOB_ACTION_SUSPEND:
      return Command(SuspendJob{job, reason});
    case v1::JOB_ACTION_RESUME:
      return Command(ResumeJob{job});
    case v1::JOB_ACTION_REQUEUE:
      return Command(RequeueJob{job, reason});
    case v1::JOB_ACTION_HOLD:
      return Command(HoldJob{job, reason});
    case v1::JOB_ACTION_RELEASE:
      return Command(ReleaseJob{job});
    default:
      return unknown_action(action);
  }
}

Result<Command> command_of(const NodeChange& change, const std::string& node) {
  switch (change.action) {
    case v1::NODE_ACTION_CORDON:
      return Command(CordonNode{node, change.reason});
    case v1::NODE_ACTION_DRAIN:
      return Command(DrainNode{node, change.reason, change.deadline});
    case v1::NODE_ACTION_UNDRAIN:
      return Command(UndrainNode{node});
    case v1::NODE_ACTION_FENCE:
      return Command(FenceNode{node, change.reason});
    case v1::NODE_ACTION_REMOVE:
      return Command{RemoveNode{node, change.reason}};
    case v1::NODE_ACTION_VALIDATE:
      return Command(ValidateNode{node});
    case v1::NODE_ACTION_SET:
      return Command(SetNode{node, change.settings, change.reset, change.reason});
    default:
      return unknown_action(change.action);
  }
}

// Answers when every one of several has been answered.
struct Gathering {
  Gathering(size_t count, Done<std::vector<ActionResult>> when_all)
      : results(count), open(count), done(std::move(when_all)) {}

  void answered(size_t index, const Result<CommandReply>& reply) {
    ActionResult& result = results[index];
    if (reply.is_ok()) {
      result.job = reply.value().job;
      result.message = reply.value().message;
    } else {
      result.status = reply.status();
    }
    if (--open == 0) finish();
  }

  // Where nothing could be decided, that is the answer: a list of as many refusals would look like
  // one, and nobody would ask the server that leads. Who is nobody is so for each of them.
  void finish() {
    const auto is_undecided = [](const ActionResult& result) {
      return result.status.code() == Code::unavailable ||
             result.status.code() == Code::unauthenticated;
    };
    if (std::ranges::all_of(results, is_undecided)) return done(results.front().status);
    done(std::move(results));
  }

  std::vector<ActionResult> results;
  size_t open;
  Done<std::vector<ActionResult>> done;
};

Status check_count(size_t count, std::string_view what, size_t count_max = kActionsMax) {
  if (count >= 1 && count <= count_max) return ok();
  return invalid_argument("1 to {} {} at once, {} given", count_max, what, count);
}

Status check_known(const ClusterState& state, const std::vector<std::string>& nodes) {
  std::vector<std::string> unknown;
  for (const std::string& name : nodes) {
    if (state.find_node(name) == nullptr) unknown.push_back(name);
  }
  if (unknown.empty()) return ok();
  return unknown_nodes(std::move(unknown), nodes.size() == 1 ? "" : "nothing was changed");
}

std::vector<Quota> each_level(Quota quota, std::optional<Priority> priority) {
  std::vector<Quota> quotas;
  for (Priority level : kPriorities) {
    if (priority && *priority != level) continue;
    quota.priority = level;
    quotas.push_back(quota);
  }
  // Not a level: the controller says what is wrong with it.
  if (quotas.empty()) {
    quota.priority = *priority;
    quotas.push_back(quota);
  }
  return quotas;
}

}  // namespace

void Actions::change(const Caller& caller, Command command, Done<CommandReply> done) {
  Result<Done<CommandReply>> counted = shares_.count(caller, command, done);
  if (!counted.is_ok()) return done(counted.status());
  controller_.submit(caller, std::move(command), std::move(counted).value());
}

Status Actions::check_seen(const Caller& caller, const std::vector<std::string>& jobs) const {
  if (!hides_jobs(settings_.sights.visibility())) return ok();
  const ClusterState& state = controller_.state();
  const Result<Actor> actor = authenticate(state, caller, controller_.soft_facts().now);
  if (!actor.is_ok()) return ok();  // the controller says so, or that it does not lead
  return settings_.sights.of(state, actor.value()).check(state, jobs);
}

void Actions::set_secret(const Caller& caller, const std::string& name,
                         std::shared_ptr<const WipedText> value, Done<Secret> done) {
  if (Status status = check_person("secret name", name); !status.is_ok()) return done(status);
  if (name.find_first_of("@+") != std::string::npos) {
    return done(invalid_argument("secret name may have letters, digits and . _ - only"));
  }
  controller_.read(
      caller,
      [this, caller, name, value, done](const Controller::ReadContext&, const Actor& actor) {
        if (settings_.sealer == nullptr) {
          return done(failed_precondition(
              "this server keeps no secrets: its config names no secrets.key_file; an "
              "administrator makes one (docs/operations/secrets.md)"));
        }
        const std::string user = actor.user;
        const std::string sealed = settings_.sealer->seal(seal_name(user, name), value->text);
        change(caller, SetSecret{{.user = user, .name = name, .sealed = sealed}},
               [this, user, name, done](Result<CommandReply> reply) {
                 if (!reply.is_ok()) return done(reply.status());
                 const Secret* row = controller_.state().find_secret(user, name);
                 if (row == nullptr) {
                   return done(aborted("the secret {} was removed meanwhile", name));
                 }
                 done(*row);
               });
      },
      done);
}

void Actions::remove_secret(const Caller& caller, const std::string& user, const std::string& name,
                            Done<CommandReply> done) {
  controller_.read(
      caller,
      [this, caller, user, name, done](const Controller::ReadContext&, const Actor& actor) {
        change(caller, RemoveSecret{user.empty() ? actor.user : user, name}, done);
      },
      done);
}

void Actions::submit_jobs(const Caller& caller, std::vector<Submission> submissions,
                          Done<std::vector<ActionResult>> done) {
  if (Status status = check_count(submissions.size(), "jobs"); !status.is_ok()) {
    return done(status);
  }
  auto all = std::make_shared<std::vector<Submission>>(std::move(submissions));
  pin_images(caller, all, 0, [this, caller, all, done] {
    std::vector<JobSpec> waiting;
    for (const Submission& each : *all) {
      if (!each.spec.depends_on.empty()) waiting.push_back(each.spec);
    }
    // Of all of them first: each may wait for those before it.
    ended_jobs_.find(caller, waiting,
                     [this, caller, all, done](Result<std::vector<EndedJob>> history) mutable {
                       if (!history.is_ok()) return done(history.status());
                       submit_all(caller, std::move(*all), history.value(), std::move(done));
                     });
  });
}

void Actions::submit_all(const Caller& caller, std::vector<Submission> submissions,
                         const std::vector<EndedJob>& history,
                         Done<std::vector<ActionResult>> done) {
  auto gathering = std::make_shared<Gathering>(submissions.size(), std::move(done));
  for (size_t i = 0; i < submissions.size(); ++i) {
    Submission& each = submissions[i];
    gathering->results[i].name = each.spec.name;
    const auto answer = [gathering, i](const Result<CommandReply>& reply) {
      gathering->answered(i, reply);
    };
    if (Status status = to_status(check_job_spec(each.spec)); !status.is_ok()) {
      answer(status);
      continue;
    }
    const bool waits = !each.spec.depends_on.empty();
    submit_checked(caller, std::move(each), waits ? history : std::vector<EndedJob>{}, answer);
  }
}

void Actions::control_jobs(const Caller& caller, const std::vector<std::string>& jobs,
                           v1::JobAction action, const std::string& reason,
                           Done<std::vector<ActionResult>> done) {
  if (Status status = check_count(jobs.size(), "jobs"); !status.is_ok()) return done(status);
  if (Status status = check_sentence("reason", reason); !status.is_ok()) return done(status);
  std::vector<Item> items;
  for (const std::string& job : jobs) {
    Result<Command> command = command_of(action, job, reason);
    if (!command.is_ok()) return done(command.status());
    items.push_back({job, std::move(command).value(), check_seen(caller, {job})});
  }
  run_all(caller, std::move(items), std::move(done));
}

void Actions::set_priority(const Caller& caller, const std::string& job, Priority priority,
                           Done<CommandReply> done) {
  if (Status status = check_seen(caller, {job}); !status.is_ok()) return done(status);
  change(caller, SetJobPriority{job, priority}, std::move(done));
}

void Actions::validate_together(const Caller& caller, const std::vector<std::string>& nodes,
                                Done<std::vector<ActionResult>> done) {
  Result<std::vector<std::string>> listed = parse_hostlists(nodes, kActionsMax);
  if (!listed.is_ok()) return done(listed.status());
  const std::vector<std::string> names = std::move(listed).value();
  if (Status status = check_count(names.size(), "nodes"); !status.is_ok()) return done(status);
  BisectNodes command{.nodes = names};
  when_known(
      caller, names,
      [this, caller, command = std::move(command), done] {
        const std::string name = format_hostlist(command.nodes);
        change(caller, command, [name, done](Result<CommandReply> reply) {
          ActionResult result{.name = name};
          if (reply.is_ok()) {
            result.message = reply.value().message;
          } else {
            result.status = reply.status();
          }
          done(std::vector{std::move(result)});
        });
      },
      done);
}

void Actions::close_incident(const Caller& caller, CloseIncident close, Done<CommandReply> done) {
  if (Status status = check_sentence("reason", close.reason); !status.is_ok()) return done(status);
  change(caller, std::move(close), std::move(done));
}

void Actions::move_job(const Caller& caller, MoveJob move, Done<CommandReply> done) {
  if (Status status = check_seen(caller, {move.job, move.other}); !status.is_ok()) {
    return done(status);
  }
  change(caller, std::move(move), std::move(done));
}

void Actions::control_nodes(const Caller& caller, const std::vector<std::string>& nodes,
                            const NodeChange& change, Done<std::vector<ActionResult>> done) {
  if (Status status = command_of(change, "").status(); !status.is_ok()) return done(status);
  if (change.deadline && change.action != v1::NODE_ACTION_DRAIN) {
    return done(invalid_argument("deadline: only drain takes one"));
  }
  if (change.action != v1::NODE_ACTION_SET &&
      !(change.settings.is_empty() && change.reset.empty())) {
    return done(invalid_argument("group, zone, leaf, labels, reset: only set takes them"));
  }
  // Before the names: each of them gets its copy.
  if (Status status = check_sentence("reason", change.reason); !status.is_ok()) {
    return done(status);
  }
  Result<std::vector<std::string>> listed = parse_hostlists(nodes, kNodesAtOnceMax);
  if (!listed.is_ok()) return done(listed.status());
  const std::vector<std::string> names = std::move(listed).value();
  if (Status status = check_count(names.size(), "nodes", kNodesAtOnceMax); !status.is_ok()) {
    return done(status);
  }
  when_known(
      caller, names,
      [this, caller, names, change, done] {
        std::vector<Item> items;
        for (const std::string& name : names) {
          items.push_back({name, command_of(change, name).value()});
        }
        run_all(caller, std::move(items), done);
      },
      done);
}

void Actions::when_known(const Caller& caller, std::vector<std::string> nodes,
                         std::function<void()> go, Done<std::vector<ActionResult>> done) {
  controller_.read(
      caller,
      [nodes = std::move(nodes), go = std::move(go), done](const Controller::ReadContext& context,
                                                           const Actor& actor) {
        // Others are refused later, as not permitted; a stale state may lack new nodes.
        const bool is_judged = actor.is_operator() && !context.stale_since;
        const Status status = is_judged ? check_known(context.state, nodes) : ok();
        if (!status.is_ok()) return done(status);
        go();
      },
      done);
}

void Actions::set_quota(const Caller& caller, Quota quota, std::optional<Priority> priority,
                        Done<CommandReply> done) {
  if (Status status = check_person("owner", quota.owner); !status.is_ok()) return done(status);
  if (quota.group != "*") {
    if (Status status = check_person("group", quota.group); !status.is_ok()) return done(status);
  }
  if (quota.nodes < 0) quota.nodes = Quota::kUnlimited;
  std::vector<Item> items;
  for (const Quota& level : each_level(quota, priority)) items.push_back({"", SetQuota{level}});
  run_until_error(caller, std::move(items), std::move(done));
}

void Actions::add_token(const Caller& caller, const Token& token, Done<CommandReply> done) {
  if (Status status = check_sentence("label", token.label); !status.is_ok()) return done(status);
  change(caller, AddToken{token}, std::move(done));
}

void Actions::remove_quota(const Caller& caller, Quota quota, std::optional<Priority> priority,
                           Done<CommandReply> done) {
  std::vector<Item> items;
  for (const Quota& level : each_level(quota, priority)) items.push_back({"", RemoveQuota{level}});
  // Of every level: those that have a row; it is an error only if none has one.
  if (priority) return run_until_error(caller, std::move(items), std::move(done));
  run_all(caller, std::move(items), [done](Result<std::vector<ActionResult>> results) {
    if (!results.is_ok()) return done(results.status());
    Status first;
    for (const ActionResult& result : results.value()) {
      if (result.status.is_ok()) return done(CommandReply{.message = result.message});
      if (first.is_ok()) first = result.status;
    }
    done(first);
  });
}

// All are submitted at once, so that they share one append.
void Actions::run_all(const Caller& caller, std::vector<Item> items,
                      Done<std::vector<ActionResult>> done) {
  auto gathering = std::make_shared<Gathering>(items.size(), std::move(done));
  for (size_t i = 0; i < items.size(); ++i) {
    gathering->results[i].name = items[i].name;
    if (!items[i].refusal.is_ok()) {
      gathering->answered(i, items[i].refusal);
      continue;
    }
    change(caller, std::move(items[i].command),
           [gathering, i](Result<CommandReply> reply) { gathering->answered(i, reply); });
  }
}

void Actions::run_until_error(const Caller& caller, std::vector<Item> items,
                              Done<CommandReply> done) {
  run_all(caller, std::move(items), [done](Result<std::vector<ActionResult>> results) {
    if (!results.is_ok()) return done(results.status());
    for (const ActionResult& result : results.value()) {
      if (!result.status.is_ok()) return done(result.status);
    }
    done(CommandReply{.message = results.value().back().message});
  });
}

}  // namespace hai
