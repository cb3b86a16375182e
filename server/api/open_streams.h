#pragma once
// The streams that are open: so many each user may have, and each ends when its caller would not be
// let in any more, or would not be shown what it shows. They are opened and ended on the loop's
// thread, and may be dropped on any.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"
#include "server/api/sight.h"
#include "server/api/source.h"
#include "server/control/command.h"

namespace hai {

class CallerBoard;

class OpenStreams {
 public:
  struct Limits {
    size_t per_user = 256;      // of all kinds
    size_t logs_per_user = 64;  // that follow a log
  };
  enum class Kind { log, other };
  // Its stream counts as long as it lives.
  using Place = std::shared_ptr<void>;
  // Called at most once, on the loop's thread, with why the caller is not let in any more.
  using End = std::function<void(const Status&)>;
  // Whose jobs somebody sees now. On the loop's thread.
  using SightOf = std::function<Sight(const Actor&)>;

  OpenStreams(const CallerBoard& callers, Limits limits, SightOf sight_of);
  ~OpenStreams();

  // From now on. Those that are open stay.
  void set_limits(Limits limits);

  // resource_exhausted if the user has as many as he may. A stream that looks only at its beginning
  // at what its caller may see says `shows`: whose jobs it shows as long as it lives. It ends when
  // that has changed, or its caller is no operator any more. Without `shows` it asks anew for each
  // answer.
  Result<Place> open(const Caller& caller, Kind kind, End end, std::optional<Sight> shows = {});
  // Ends the streams of callers who would not be let in now, or not be shown the same.
  void check();
  // The same when whose jobs people see may be another for all of them.
  void look_again();

 private:
  struct State;
  enum class Look { at_callers, at_limited_sights, at_all_sights };
  void check(Look look);
  static bool may_show_less(const Sight& shows, const Actor& actor, Look look);
  std::vector<std::pair<End, Status>> take_ended(const std::string& hash, Look look);

  const CallerBoard& callers_;
  const SightOf sight_of_;
  int64_t accounts_seen_ = 0;
  const std::shared_ptr<State> state_;
};

// A source that ends with the error of its caller once he would not be let in any more.
template <typename T>
class GuardedSource : public std::enable_shared_from_this<GuardedSource<T>> {
 public:
  static Source<T> make(OpenStreams& streams, const Caller& caller, OpenStreams::Kind kind,
                        Source<T> source, std::optional<Sight> shows = {}) {
    auto guarded = std::make_shared<GuardedSource<T>>(std::move(source));
    Result<OpenStreams::Place> place = streams.open(
        caller, kind,
        [weak = guarded->weak_from_this()](const Status& why) {
          if (auto self = weak.lock()) self->end(why);
        },
        std::move(shows));
    if (!place.is_ok()) return [why = place.status()](Done<std::optional<T>> done) { done(why); };
    guarded->place_ = std::move(place).value();
    return [guarded](Done<std::optional<T>> done) { guarded->pull(std::move(done)); };
  }

  explicit GuardedSource(Source<T> source) : source_(std::move(source)) {}

 private:
  void pull(Done<std::optional<T>> done) {
    if (!source_) return done(why_);
    waiting_ = std::move(done);
    source_([weak = this->weak_from_this()](Result<std::optional<T>> answer) {
      auto self = weak.lock();
      if (self && self->waiting_) std::exchange(self->waiting_, nullptr)(std::move(answer));
    });
  }

  void end(const Status& why) {
    why_ = why;
    source_ = nullptr;
    if (waiting_) std::exchange(waiting_, nullptr)(why);
  }

  Source<T> source_;  // null after the end
  Done<std::optional<T>> waiting_;
  Status why_;
  OpenStreams::Place place_;
};

}  // namespace hai
