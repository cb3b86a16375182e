#pragma once
// Which tokens are known, for threads other than the controller's: what comes from nobody known is
// refused before it is read. Told on the loop's thread; asked by whoever takes a request, and keeps
// when each token was used last. Who may do what is still decided on the loop, by the state itself.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "server/control/command.h"
#include "server/model/cluster_state.h"

namespace hai {

// Whom a token names, whether or not it lets him in.
struct CallerName {
  std::string user;   // "" = nobody known
  std::string token;  // its id
};

class CallerBoard {
 public:
  // `wall_now` ends tokens; asked on any thread.
  explicit CallerBoard(std::function<UnixTime()> wall_now) : wall_now_(std::move(wall_now)) {}

  // An observer of the event feed: takes over what the events say of people and their tokens.
  // Whether they said something.
  bool follow(const std::vector<Event>& durable, const ClusterState& state);
  // This server decides and answers for nobody any more.
  void forget();

  // ok, or why the caller is refused: unauthenticated or permission_denied, in the words of
  // authenticate(). Before a leader's first events nobody is known to be nobody: ok. Who is let in
  // has used his token.
  Status admit(const Caller& caller) const;
  // The same, of somebody who was let in before and has not come again.
  Status check(const Caller& caller) const;
  // Whether it has been told who people are.
  bool knows_people() const;
  // Whether the caller is known for sure: more may be read of him than of others.
  bool knows(const Caller& caller) const;
  // His user's name; "" = not known.
  std::string user_of(const Caller& caller) const;
  // For the audit log.
  CallerName name_of(const Caller& caller) const;
  // Who the caller is now, within his token's scope; none = not known, or let in no more.
  std::optional<Actor> actor_of(const Caller& caller) const;
  // Grows whenever an account may have changed: then people may see other things than before.
  int64_t accounts_version() const;

  // When tokens were used, of those whose state should be told by now: of a session to some
  // minutes, of others to the hour.
  std::map<std::string, UnixTime> uses_to_note() const;
  // Whether there are tokens that ended so long ago that they should go.
  bool has_tokens_to_remove() const;

 private:
  struct Known {
    explicit Known(Token held) : token(std::move(held)) {}
    Token token;
    mutable std::atomic<int64_t> used_us{0};  // 0 = not since it came here
  };
  struct People {
    std::map<std::string, User> users;
    std::map<std::string, std::unique_ptr<Known>> tokens;  // by hash
  };
  void put(const Token& token);
  Status judge(const Caller& caller, const Known** found) const;

  const std::function<UnixTime()> wall_now_;
  mutable std::shared_mutex mutex_;
  std::optional<People> people_;
  int64_t accounts_version_ = 0;
};

}  // namespace hai
