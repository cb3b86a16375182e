// Who a caller is, and which job he means and may control.

#include "common/whole_number.h"
#include "server/control/verbs/decide.h"

namespace hai {

Result<Actor> authenticate(const ClusterState& state, const Caller& caller) {
  std::string name = caller.trusted_user;
  if (name.empty()) {
    if (caller.token_hash.empty())
      return unauthenticated("no token: run `hai init TOKEN --url URL` first");
    const Token* token = state.find_token(caller.token_hash);
    if (token == nullptr) return unauthenticated("the token is not known here or was revoked");
    name = token->user;
  }
  const User* user = state.find_user(name);
  if (user == nullptr) return unauthenticated("user {} is not known", name);
  if (!user->active) return permission_denied("user {} is not active", name);
  return Actor{user->name, user->role};
}

Result<const Job*> find_controllable(const ClusterState& state, const Actor& actor,
                                     const std::string& job) {
  const std::optional<int64_t> id = whole_number(job);
  const Job* found = id ? state.find(JobId{*id}) : state.find_unfinished(actor.user, job);
  if (found == nullptr && id && *id > 0 && *id <= state.last_job().value) {
    return failed_precondition("job {} has ended", *id);  // Only old, finished jobs leave memory.
  }
  if (found == nullptr) {
    if (id) return not_found("job {} does not exist", job);
    return not_found("{} has no unfinished job named {}", actor.user, job);
  }
  if (found->user != actor.user && !actor.is_operator()) {
    return permission_denied("job {} belongs to {}", found->id.value, found->user);
  }
  return found;
}

}  // namespace hai
