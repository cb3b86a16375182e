#pragma once
// One event, made text once, to all who watch. The loop pushes, a thread of its own hands out, and
// the HTTP server's thread asks for more when a reader has taken what it had: ten thousand watchers
// cost the loop as much as one. The ring is every watcher's queue: who falls behind its start is
// cut off and told where to resume.
//
//   loop: push(events) ─▶ ring ─▶ pacing ─▶ done(text) of whoever waits ─▶ HTTP thread writes
//
// Any thread may call; callbacks come from the hub's thread or from inside next().

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>

#include "common/time.h"
#include "server/api/event_filter.h"
#include "server/http/http_message.h"

namespace hai {

struct EventHubLimits {
  size_t frames = 50'000;
  size_t bytes = 64 << 20;         // of these frames, with all that they hold
  size_t piece_bytes = 256 << 10;  // handed out at once
  Duration idle = 15s;             // then a sign of life, so that no proxy closes the connection
  // A round hands out to so many, pauses, and goes on with the next ones: requests of other clients
  // get their turn in between, and rounds never take all of a core.
  size_t slice = 256;
  Duration pause_per_watcher = 20us;
  Duration pause = 20ms;  // after the round
};

// The last words of a stream that ends by itself.
std::string end_frame(int64_t after, const std::string& reason);

class EventHub {
 public:
  using WatcherId = int64_t;
  struct Frame {
    Event event;
    std::string text;        // of the stream, with its empty line
    std::string owner = {};  // of the job it is about, as job_owner() says
    std::string row = {};    // for who sees a row of that job; "" = the same text
  };

  explicit EventHub(EventHubLimits limits = {});
  ~EventHub();

  // From now on frames come; the last one before them was `seq`. Does nothing if they come already.
  void begin(int64_t seq);
  bool is_wanted() const;  // somebody watches
  // In order and without a gap; after a gap whoever watches is cut off.
  void push(std::vector<Frame> frames);
  void cut_all(const std::string& reason);

  // From the frame after `after` on, which must not be older than begin().
  WatcherId add(EventFilter filter, int64_t after);
  void remove(WatcherId id);
  // The next piece; "" text never, nullopt after the end. One call at a time per watcher.
  void next(WatcherId id, HttpChunkDone done);
  // It gets `reason` as its last words, without what it has not seen yet.
  void end(WatcherId id, const std::string& reason);
  // Where the watcher stands.
  int64_t position(WatcherId id) const;

  size_t watcher_count() const;
  int64_t cut_count() const;

 private:
  struct Watcher {
    EventFilter filter;
    int64_t after = 0;
    HttpChunkDone waiting;
    std::chrono::steady_clock::time_point idle_at;
    std::string end;  // said once, then it is over
    bool has_ended = false;
  };
  struct Answer {
    HttpChunkDone done;
    HttpChunk chunk;
  };
  using Text = std::shared_ptr<const std::string>;
  struct Shared {
    int64_t up_to = 0;
    Text text;
    std::set<std::string> hidden_of;  // whose jobs it tells less of than there is
  };

  void run();
  void round(std::unique_lock<std::mutex>& lock);
  // Of the next watchers after `after`, which moves on. Under the lock.
  std::vector<Answer> collect(WatcherId& after);
  std::optional<Answer> serve(Watcher& watcher, bool is_idle);
  Text text_for(Watcher& watcher);
  Shared make_text(const EventFilter& filter, int64_t after) const;
  void cut(Watcher& watcher, const std::string& reason);

  const EventHubLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<const Frame>> ring_;
  size_t ring_bytes_ = 0;
  int64_t before_first_ = 0;  // seq of the frame before the ring's first
  int64_t last_seq_ = 0;
  bool is_begun_ = false;
  std::map<WatcherId, Watcher> watchers_;
  WatcherId last_id_ = 0;
  int64_t cut_count_ = 0;
  // By what they see and where they stand, those without a filter get the same text; for a round.
  std::map<std::tuple<bool, bool, int64_t>, Shared> shared_;
  bool is_news_ = false;
  bool is_stopping_ = false;
  std::thread thread_;  // last: uses all above
};

}  // namespace hai
