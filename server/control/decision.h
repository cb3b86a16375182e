#pragma once
// What one turn of the controller decides: events, applied to the state as they are emitted so that
// the next step sees them, and durable before anything leaves. A decide() function checks first and
// emits after; one that returns an error has emitted nothing.

#include <string>
#include <utility>
#include <vector>

#include "common/knobs.h"
#include "server/control/command.h"
#include "server/model/cluster_state.h"

namespace hai {

class Decision {
 public:
  Decision(ClusterState& state, const Knobs& knobs, UnixTime now)
      : state_(state), knobs_(knobs), now_(now) {}

  const ClusterState& state() const { return state_; }
  const Knobs& knobs() const { return knobs_; }
  UnixTime now() const { return now_; }
  void set_actor(std::string actor) { actor_ = std::move(actor); }

  void emit(EventBody body) {
    Event event{state_.last_seq() + 1, now_, actor_, std::move(body)};
    state_.apply(event);
    events_.push_back(std::move(event));
  }

  const std::vector<Event>& events() const { return events_; }
  std::vector<Event> take_events() { return std::exchange(events_, {}); }

 private:
  ClusterState& state_;
  const Knobs& knobs_;
  UnixTime now_;
  std::string actor_ = "server";
  std::vector<Event> events_;
};

// One overload per command, each in its decide_<verb>.cpp.
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
