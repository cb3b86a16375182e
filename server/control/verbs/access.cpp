// Who a caller is, and which job he means and may control.

#include "common/whole_number.h"
#include "server/control/attempt/array_flow.h"
#include "server/control/verbs/tokens.h"
#include "server/model/find_job.h"

namespace hai {

namespace {

Role role_within(Role role, TokenScope scope) {
  switch (scope) {
    case TokenScope::read:
    case TokenScope::submit:
      return Role::user;
    case TokenScope::operate:
      return std::min(role, Role::operator_);
    case TokenScope::admin:
      break;
  }
  return role;
}

bool is_idle(const Token& token, UnixTime used, UnixTime now) {
  used = std::max(used, token.last_used_at.value_or(token.created_at));
  return token.kind == TokenKind::session && now - used > kSessionIdleMax;
}

Status check_needs(const CallNeeds& needs, const User& user, const Actor& actor) {
  if (user.role < needs.role) {
    return permission_denied("{} is for {}s only: {} is {} {}", needs.call, to_string(needs.role),
                             user.name, user.role == Role::user ? "a" : "an", to_string(user.role));
  }
  if (actor.scope < needs.scope) {
    return permission_denied("{} needs a token of scope {}: this one's is {}", needs.call,
                             to_string(needs.scope), to_string(actor.scope));
  }
  return ok();
}

}  // namespace

Status check_token(const Token* token, UnixTime now, UnixTime used) {
  if (token == nullptr || token->kind == TokenKind::join) {
    return unauthenticated("the token is not known here or was revoked");
  }
  if (token->is_over(now)) {
    return unauthenticated("the token ended at {}: make a new one (hai token create) or sign in",
                           format_rfc3339(*token->expires_at));
  }
  if (is_idle(*token, used, now)) {
    return unauthenticated("nothing was done for {}: sign in again",
                           format_duration(kSessionIdleMax));
  }
  return ok();
}

Result<Actor> authenticate(const ClusterState& state, const Caller& caller, UnixTime now) {
  if (caller.is_server) return Actor{"server", Role::admin};
  std::string name = caller.trusted_user;
  TokenScope scope = TokenScope::admin;
  if (name.empty()) {
    if (caller.token_hash.empty())
      return unauthenticated("no token: run `hai init TOKEN --url URL` first");
    const Token* token = state.find_token(caller.token_hash);
    RETURN_IF_ERROR(check_token(token, now));
    name = token->user;
    scope = token->scope;
  }
  const User* user = state.find_user(name);
  Result<Actor> actor = actor_of(name, user, scope);
  if (actor.is_ok()) RETURN_IF_ERROR(check_needs(caller.needs, *user, actor.value()));
  return actor;
}

Result<Actor> actor_of(const std::string& name, const User* user, TokenScope scope) {
  if (user == nullptr) return unauthenticated("user {} is not known", name);
  if (!user->active) return permission_denied("user {} is not active", name);
  return Actor{user->name, role_within(user->role, scope), scope};
}

Status check_not_stopping(const Job& job) {
  if (!job.stop_requested || job.is_terminal()) return ok();
  return failed_precondition("job {} is being stopped: it does not run again", shown_id(job));
}

bool is_leaving(const Job& job) {
  return job.has_live_attempt() &&
         (job.attempt->end || job.attempt->state == AttemptState::suspending);
}

static Status missing_task(const ClusterState& state, const ArrayTask& task) {
  const Job* array = state.find(task.array);
  if (array == nullptr) {
    return not_found("array {} does not exist or has ended", task.array.value);
  }
  RETURN_IF_ERROR(check_task(state, *array, task.index));
  return failed_precondition("task {} of array {} is not made yet, so that it does not run either",
                             task.index, task.array.value);
}

Result<Meant> find_controllable_task(const ClusterState& state, const Actor& actor,
                                     const std::string& job) {
  const auto task = parse_array_task(job);
  const Job* array = task ? state.find(task->array) : nullptr;
  if (array == nullptr || find_job(state, actor.user, job) != nullptr) {
    Result<const Job*> found = find_controllable(state, actor, job);
    if (!found.is_ok()) return found.status();
    return Meant{found.value(), {}};
  }
  RETURN_IF_ERROR(find_controllable(state, actor, std::to_string(array->id.value)).status());
  RETURN_IF_ERROR(check_task(state, *array, task->index));
  return Meant{array, task->index};
}

Status check_may_make(const Decision& decision, const Meant& meant) {
  if (!meant.task) return ok();
  return check_may_have_more(decision, meant.job->user);
}

Status check_may_have_more(const Decision& decision, const std::string& user, int64_t more) {
  const int64_t count = decision.state().unfinished_count(user);
  if (count + more <= decision.knobs().max_unfinished_jobs_per_user) return ok();
  return resource_exhausted("{} has {} unfinished jobs, as many as allowed", user, count);
}

const Job& made(Decision& decision, const Meant& meant) {
  if (!meant.task) return *meant.job;
  return *decision.state().find(make_task(decision, meant.job->id, *meant.task));
}

Result<const Job*> find_or_make(Decision& decision, const Actor& actor, const std::string& job) {
  const Result<Meant> meant = find_controllable_task(decision.state(), actor, job);
  if (!meant.is_ok()) return meant.status();
  if (const Job& found = *meant.value().job; found.is_terminal())
    return failed_precondition("job {} has {}", shown_id(found), to_string(found.state));
  RETURN_IF_ERROR(check_not_stopping(*meant.value().job));
  RETURN_IF_ERROR(check_may_make(decision, meant.value()));
  return &made(decision, meant.value());
}

Result<const Job*> find_controllable(const ClusterState& state, const Actor& actor,
                                     const std::string& job) {
  const Job* found = find_job(state, actor.user, job);
  if (found == nullptr) {
    const std::optional<int64_t> id = whole_number(job);
    if (id && *id > 0 && *id <= state.last_job().value) {
      return failed_precondition("job {} has ended", *id);  // Only old, finished jobs leave memory.
    }
    if (id) return not_found("job {} does not exist", job);
    if (const auto task = parse_array_task(job)) return missing_task(state, *task);
    return not_found("{} has no unfinished job named {}", actor.user, job);
  }
  if (found->user != actor.user && !actor.is_operator()) {
    return permission_denied("job {} belongs to {}", found->id.value, found->user);
  }
  return found;
}

}  // namespace hai
