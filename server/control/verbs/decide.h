#pragma once
// What people ask for, decided. A decide() function checks first and emits after; one that returns
// an error has emitted nothing.

#include <string>

#include "server/control/command.h"
#include "server/model/decision.h"
#include "server/model/find_job.h"

namespace hai {

// One overload per command, each in verbs/<verb>.cpp.
#define HAI_DECIDE(name) \
  Result<CommandReply> decide(Decision& decision, const name& command, const Actor& actor);
HAI_COMMANDS(HAI_DECIDE)
#undef HAI_DECIDE

// How long a session holds that nobody uses.
inline constexpr Duration kSessionIdleMax = 2h;

// Who the caller is, with no more rights than his token has. `now` ends tokens.
Result<Actor> authenticate(const ClusterState& state, const Caller& caller, UnixTime now);

// The same of each unfinished task of an array. Tasks that refuse it, such as one that ends just
// now, are left as they are.
template <typename Command>
void decide_for_tasks(Decision& decision, JobId array, Command command, const Actor& actor) {
  for (JobId id : decision.state().unfinished_tasks(array)) {
    command.job = std::to_string(id.value);
    (void)decide(decision, command, actor);
  }
}

// resource_exhausted if the user may not have so many more unfinished jobs.
Status check_may_have_more(const Decision& decision, const std::string& user, int64_t more = 1);

// Its end has begun, and it does not run again: what was asked for would not come about.
Status check_not_stopping(const Job& job);
// Its attempt has been asked to go, or ends by itself.
bool is_leaving(const Job& job);

// The job a person means, or a task of an array that is not made yet.
struct Meant {
  const Job* job = nullptr;  // of such a task the array, whose spec and owner it will have
  std::optional<int> task;   // which one
};
// As find_controllable(); the task is one that may be made.
Result<Meant> find_controllable_task(const ClusterState& state, const Actor& actor,
                                     const std::string& job);
// resource_exhausted if a task would have to be made and stay, and its user may have no more jobs.
Status check_may_make(const Decision& decision, const Meant& meant);
// The job itself, for which a task is made if need be: whoever names one means a job. To be called
// when nothing speaks against the command any more.
const Job& made(Decision& decision, const Meant& meant);
// Both, of an unfinished job whose end has not begun, for a command that asks no more of it.
Result<const Job*> find_or_make(Decision& decision, const Actor& actor, const std::string& job);

// The job a person means: a number is an id, 17_3 is task 3 of array 17, else it is the name of an
// unfinished job of theirs. not_found says what was looked for; permission_denied if it is another
// user's and the actor is no operator.
Result<const Job*> find_controllable(const ClusterState& state, const Actor& actor,
                                     const std::string& job);

}  // namespace hai
