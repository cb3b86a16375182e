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

  const Limits limits;
  std::mutex mutex;
  ByCaller streams;
  std::map<std::string, Count> counts;  // by user
  int64_t last_id = 0;
};

OpenStreams::OpenStreams(const CallerBoard& callers, Limits limits)
    : callers_(callers), state_(std::make_shared<State>(limits)) {}
OpenStreams::~OpenStreams() = default;

Result<OpenStreams::Place> OpenStreams::open(const Caller& caller, Kind kind, End end) {
  std::string user = callers_.user_of(caller);
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
  state_->streams[hash].emplace(id, State::Stream{std::move(user), kind, std::move(end)});
  return Place(nullptr, [state = state_, hash, id](void*) { state->remove(hash, id); });
}

void OpenStreams::check() {
  std::vector<std::string> hashes;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [hash, streams] : state_->streams) hashes.push_back(hash);
  }
  for (const std::string& hash : hashes) {
    const Status status = callers_.check({.token_hash = hash});
    if (status.is_ok()) continue;
    std::vector<End> ends;
    {
      const std::lock_guard lock(state_->mutex);
      const auto found = state_->streams.find(hash);
      if (found == state_->streams.end()) continue;
      for (auto& [id, stream] : found->second) {
        if (stream.end) ends.push_back(std::exchange(stream.end, nullptr));
      }
    }
    for (const End& end : ends) end(status);
  }
}

}  // namespace hai
