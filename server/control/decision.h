#pragma once
// What people ask for, decided. A decide() function checks first and emits after; one that returns
// an error has emitted nothing.

#include <string>

#include "server/control/command.h"
#include "server/model/decision.h"

namespace hai {

// One overload per command, each in verbs/<verb>.cpp.
Result<CommandReply> decide(Decision& decision, const SubmitJob& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const StopJob& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const SuspendJob& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const ResumeJob& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const HoldJob& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const ReleaseJob& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const SetJobPriority& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const MoveJob& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const CordonNode& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const DrainNode& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const UndrainNode& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const FenceNode& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const ValidateNode& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const BisectNodes& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const CloseIncident& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const SetUser& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const SetQuota& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const RemoveQuota& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const AddToken& command, const Actor& actor);
Result<CommandReply> decide(Decision& decision, const RevokeToken& command, const Actor& actor);

Result<Actor> authenticate(const ClusterState& state, const Caller& caller);

// The job a person means: a number is an id, else the name of an unfinished job of theirs.
// not_found says what was looked for; permission_denied if it is another user's and the actor is no
// operator.
Result<const Job*> find_controllable(const ClusterState& state, const Actor& actor,
                                     const std::string& job);

}  // namespace hai
