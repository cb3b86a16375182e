#pragma once
// The states (docs/contract.md, States) and which may follow which. The words are the same in C++,
// SQL, JSON and the CLI.

#include <optional>
#include <span>
#include <string_view>

namespace hai {

enum class JobState { queued, running, suspended, succeeded, failed, stopped };

// placed → starting → running → suspending → suspended | succeeded | failed | stopped | lost
enum class AttemptState {
  placed,
  starting,
  running,
  suspending,
  suspended,
  succeeded,
  failed,
  stopped,
  lost,
};

// `pending` until the agent confirms the program runs; `exited` and `lost` are final.
enum class RankState {
  pending,
  running,
  exited,
  lost,
  released,  // exited with code 0, and its place is given back though others of its attempt run
};

enum class Liveness { up, suspect, down };
enum class Scheduling { open, cordoned, draining, drained };
enum class Role { user, operator_, admin };
// What a token is for.
enum class TokenKind {
  api,      // made by hand, for programs and the command line
  session,  // of somebody who signed in
  join,     // machines may join with it; it lets nobody call anything else
};
// The most a token may do, each what the one before may: read what its user may and change nothing,
// act as an ordinary user, as an operator, as an administrator.
enum class TokenScope { read, submit, operate, admin };

std::string_view to_string(JobState state);
std::string_view to_string(AttemptState state);
std::string_view to_string(RankState state);
std::string_view to_string(Liveness liveness);
std::string_view to_string(Scheduling scheduling);
std::string_view to_string(Role role);
std::string_view to_string(TokenKind kind);
std::string_view to_string(TokenScope scope);

// The reverse of to_string for every enum the model stores; nullopt for an unknown word.
template <typename Enum>
std::optional<Enum> parse_enum(std::string_view text);

bool is_terminal(JobState state);      // succeeded, failed, stopped
bool is_terminal(AttemptState state);  // suspended, succeeded, failed, stopped, lost
bool is_gone(RankState state);         // exited, lost, released

bool may_follow(JobState from, JobState to);
bool may_follow(AttemptState from, AttemptState to);

}  // namespace hai
