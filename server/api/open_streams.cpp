#include "server/api/open_streams.h"

#include <map>
#include <mutex>
#include <vector>

#include "server/api/caller_board.h"

namespace hai {

struct OpenStreams::State {
  struct Stream {
    std::string user;
    Kind kind;
    End end;
    std::optional<Sight> shows;
    bool was_operator = false;  // its caller, since it began
  };
  struct Count {
    size_t all = 0;
    size_t logs = 0;
  };
  using Streams = std::map<int64_t, Stream>;
  using ByCaller = std::map<std::string, Streams>;  // by the token's hash

  explicit State(Limits used) : limits(used) {}

  void remove(const std::string& hash, int64_t id) {
    End dropped;  // destroyed without the lock: what it holds may be another stream's last owner
    const std::lock_guard lock(mutex);
    const auto caller = streams.find(hash);
    if (caller == streams.end()) return;
    const auto stream = caller->second.find(id);
    if (stream == caller->second.end()) return;
    const auto count = counts.find(stream->second.user);
    if (stream->second.kind == Kind::log) --count->second.logs;
    if (--count->second.all == 0) counts.erase(count);
    dropped = std::move(stream->second.end);
    caller->second.erase(stream);
    if (caller->second.empty()) streams.erase(caller);
  }

  Limits limits;  // with the lock
  std::mutex mutex;
  ByCaller streams;
  std::map<std::string, Count> counts;  // by user
  int64_t last_id = 0;
};

OpenStreams::OpenStreams(const CallerBoard& callers, Limits limits, SightOf sight_of)
    : callers_(callers), sight_of_(std::move(sight_of)), state_(std::make_shared<State>(limits)) {}
OpenStreams::~OpenStreams() = default;

void OpenStreams::set_limits(Limits limits) {
  const std::lock_guard lock(state_->mutex);
  state_->limits = limits;
}

Result<OpenStreams::Place> OpenStreams::open(const Caller& caller, Kind kind, End end,
                                             std::optional<Sight> shows) {
  std::string user = callers_.user_of(caller);
  const std::optional<Actor> actor = callers_.actor_of(caller);
  const std::string hash = caller.token_hash;
  const std::lock_guard lock(state_->mutex);
  State::Count& count = state_->counts[user];
  if (count.all >= state_->limits.per_user) {
    return resource_exhausted("{} has {} streams open, which is the most: close one first", user,
                              count.all);
  }
  if (kind == Kind::log && count.logs >= state_->limits.logs_per_user) {
    return resource_exhausted("{} follows {} logs, which is the most: leave one first", user,
                              count.logs);
  }
  ++count.all;
  if (kind == Kind::log) ++count.logs;
  const int64_t id = ++state_->last_id;
  state_->streams[hash].emplace(id, State::Stream{.user = std::move(user),
                                                  .kind = kind,
                                                  .end = std::move(end),
                                                  .shows = std::move(shows),
                                                  .was_operator = actor && actor->is_operator()});
  return Place(nullptr, [state = state_, hash, id](void*) { state->remove(hash, id); });
}

void OpenStreams::check() {
  // Only an account that has changed changes what somebody sees, and the site's word (look_again).
  const int64_t version = callers_.accounts_version();
  const bool look_at_sight = std::exchange(accounts_seen_, version) != version;
  check(look_at_sight ? Look::at_limited_sights : Look::at_callers);
}

void OpenStreams::look_again() { check(Look::at_all_sights); }

void OpenStreams::check(Look look) {
  std::vector<std::string> hashes;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [hash, streams] : state_->streams) hashes.push_back(hash);
  }
  for (const std::string& hash : hashes) {
    for (const auto& [end, why] : take_ended(hash, look)) end(why);
  }
}

// An operator's stream shows all, whatever the site says of others.
bool OpenStreams::may_show_less(const Sight& shows, const Actor& actor, Look look) {
  return shows.is_limited() || (look == Look::at_all_sights && !actor.is_operator());
}

// Those of this caller that end now, and why; they are not asked for again.
std::vector<std::pair<OpenStreams::End, Status>> OpenStreams::take_ended(const std::string& hash,
                                                                         Look look) {
  const Caller caller{.token_hash = hash};
  const Status admitted = callers_.check(caller);
  const std::optional<Actor> actor = callers_.actor_of(caller);
  // Who may see more by now goes on seeing what he asked for.
  std::optional<Sight> as_user;
  if (actor && look != Look::at_callers)
    as_user = sight_of_({.user = actor->user, .role = Role::user});
  std::vector<std::pair<End, Status>> ended;
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->streams.find(hash);
  if (found == state_->streams.end()) return ended;
  for (auto& [id, stream] : found->second) {
    Status status = admitted;
    if (status.is_ok() && actor && stream.shows) {
      stream.was_operator = stream.was_operator || actor->is_operator();
      if (stream.was_operator && !actor->is_operator()) {
        status = permission_denied("{} is no operator any more: connect again", actor->user);
      } else if (may_show_less(*stream.shows, *actor, look) && as_user &&
                 *as_user != *stream.shows) {
        status = aborted("what you may see has changed: connect again");
      }
    }
    if (!status.is_ok() && stream.end) {
      ended.emplace_back(std::exchange(stream.end, nullptr), status);
    }
  }
  return ended;
}

}  // namespace hai
