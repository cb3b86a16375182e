#include "server/api/log_tail.h"

#include <algorithm>

#include "common/loop.h"
#include "server/api/event_feed.h"

namespace hai {

namespace {

constexpr int64_t kPieceBytes = 256 << 10;
constexpr Duration kRetryPause = 500ms;
constexpr Duration kStoreRetryPause = 2s;  // while the log store has no more and the node is away

//   resolving ──attempt and node known──▶ reading ──end or error──▶ ended
//       │ ▲ no attempt yet, follow            │ node away or rank not there yet, follow
//       └─┘◀──────────────────────────────────┘
// What the node cannot give is read from the log store, for a follower until that has no more; then
// the node is asked again, and goes on at the same byte.
class LogTail : public std::enable_shared_from_this<LogTail> {
 public:
  using Answer = Done<std::optional<LogPiece>>;

  LogTail(Loop& loop, Queries& queries, LogRouter& router, Caller caller, LogTailRequest request)
      : loop_(loop),
        queries_(queries),
        router_(router),
        caller_(std::move(caller)),
        request_(std::move(request)) {
    request_.offset = std::max<int64_t>(request_.offset, 0);
    request_.tail_bytes = std::max<int64_t>(request_.tail_bytes, 0);
  }
  ~LogTail() { stop_waiting(); }

  void next(Answer answer) {
    if (has_ended_) return answer(std::optional<LogPiece>());
    answer_ = std::move(answer);
    if (!is_resolved_) return resolve();
    read();
  }

 private:
  template <typename T>
  Done<T> later(void (LogTail::*method)(Result<T>)) {
    return [weak = weak_from_this(), method](Result<T> result) {
      if (auto self = weak.lock()) (self.get()->*method)(std::move(result));
    };
  }

  void resolve() {
    stop_waiting();
    queries_.find_job(caller_, request_.job, later(&LogTail::resolved));
  }

  void resolved(Result<Queries::FoundJob> result) {
    if (!result.is_ok()) return fail(result.status());
    const Queries::FoundJob& found = result.value();
    const Job& job = found.job;
    if (const Status status = found.check_log(); !status.is_ok()) return fail(status);
    request_.job = std::to_string(job.id.value);
    is_shared_ = found.seen < Seen::all;
    user_ = job.user;
    key_ = {job.id, request_.attempt == 0 ? job.attempt_number() : request_.attempt, request_.rank};
    if (key_.attempt > job.attempt_number() || !job.attempt) {
      if (request_.follow && !job.is_terminal()) return wait_for_attempt(job);
      if (job.attempt_number() == 0) {
        return fail(failed_precondition("job {} has not started, so it has no log", job.id.value));
      }
      return fail(not_found("job {} has {} attempts, not {}", job.id.value, job.attempt_number(),
                            key_.attempt));
    }
    attempt_is_live_ = key_.attempt == job.attempt->number && job.attempt->is_live();
    if (key_.attempt == job.attempt->number) return use(found.view.nodes, *job.attempt);
    if (queries_.history() == nullptr) {
      return fail(not_found("attempt {} of job {} is not kept", key_.attempt, job.id.value));
    }
    queries_.history()->attempts(job.id, later(&LogTail::got_attempts));
  }

  // It will have as many ranks as its spec says by then.
  void wait_for_attempt(const Job& job) {
    if (!has_rank(job.spec->node_count)) return fail(no_rank(job.spec->node_count));
    request_.announce ? announce() : wait_for_change();
  }

  bool has_rank(int64_t ranks) const { return request_.rank >= 0 && request_.rank < ranks; }
  Status no_rank(int64_t ranks) const {
    return not_found("job {} has ranks 0 to {}, not {}", request_.job, ranks - 1, request_.rank);
  }

  // What could not be said any more once the answer has begun has been said.
  void announce() {
    request_.announce = false;
    give(LogPiece{.attempt = request_.attempt, .rank = request_.rank});
  }

  void got_attempts(Result<std::vector<Attempt>> attempts) {
    if (!attempts.is_ok()) return fail(attempts.status());
    auto found = std::ranges::find(attempts.value(), key_.attempt, &Attempt::number);
    if (found == attempts.value().end()) {
      return fail(not_found("attempt {} of job {} is not kept", key_.attempt, key_.job.value));
    }
    use({}, *found);
  }

  void use(const std::vector<std::string>& names, const Attempt& attempt) {
    const auto ranks = static_cast<int64_t>(attempt.ranks.size());
    if (!has_rank(ranks)) return fail(no_rank(ranks));
    if (request_.announce) return announce();
    log_ =
        std::make_shared<RankLog>(router_, queries_, request_.steps ? step_record_of(key_) : key_,
                                  user_, node_of(queries_, names, attempt, key_.rank));
    is_resolved_ = true;
    const bool is_asked = request_.max_bytes > 0 || request_.since;
    if (!is_asked || extent_) return read();
    log_->extent(later(&LogTail::got_extent));
  }

  void got_extent(Result<LogExtent> extent) {
    if (!extent.is_ok()) return part_failed(extent.status());
    extent_ = extent.value();
    if (!request_.since) return read();
    seek_log(log_, *extent_, *request_.since, later(&LogTail::got_place));
  }

  void got_place(Result<int64_t> place) {
    if (!place.is_ok()) return part_failed(place.status());
    request_.offset = place.value();
    request_.tail_bytes = 0;
    request_.since.reset();
    read();
  }

  void read() {
    const bool is_window = request_.max_bytes > 0;
    log_->read(
        {.offset = request_.offset,
         .max_bytes = is_window ? std::min(request_.max_bytes, kMaxLogChunkBytes) : kPieceBytes,
         .tail_bytes = request_.tail_bytes,
         .wait = request_.follow ? kMaxLogWait : Duration(0)},
        later(&LogTail::got_part));
  }

  void got_part(Result<RankLogPart> result) {
    if (!result.is_ok()) return part_failed(result.status());
    RankLogPart& part = result.value();
    go_on_after(part);
    LogPiece piece{.data = std::move(part.data),
                   .offset = part.offset,
                   .attempt = key_.attempt,
                   .rank = key_.rank};
    piece.end = part.source.empty() ? is_end_of_node(part, piece) : is_end_of_store(part, piece);
    if (request_.max_bytes > 0) {
      request_.max_bytes -= static_cast<int64_t>(piece.data.size());
      piece.end = piece.end || request_.max_bytes <= 0;
    }
    if (is_given_up_) return give_up(unavailable("{}", part.source), kStoreRetryPause);
    if (piece.data.empty() && !piece.end && part.source.empty()) return read();
    tell_extent(part, piece);
    has_ended_ = piece.end;
    if (!is_shared_) return give(std::move(piece));
    // It may have taken long to come: he may have left the group meanwhile.
    queries_.find_job(
        caller_, request_.job, [weak = weak_from_this(), piece](Result<Queries::FoundJob> found) {
          const auto self = weak.lock();
          if (self == nullptr) return;
          const Status status = found.is_ok() ? found.value().check_log() : found.status();
          status.is_ok() ? self->give(piece) : self->fail(status);
        });
  }

  // The store may have less than was read from the node already, and a node less than the store:
  // nobody gets a byte twice. Only what is there moves the place, or the node's word of its end.
  void go_on_after(const RankLogPart& part) {
    if (part.data.empty() && !part.source.empty()) return;
    request_.offset = std::max(part.next_offset, read_to_);
    request_.tail_bytes = 0;
    if (!part.data.empty()) read_to_ = request_.offset;
  }

  bool is_end_of_node(const RankLogPart& part, const LogPiece& piece) const {
    return part.end || (!request_.follow && piece.data.empty());
  }

  // Of what comes from the store the first piece says so. When it has no more, the node is asked
  // again while there may be more to come.
  bool is_end_of_store(const RankLogPart& part, LogPiece& piece) {
    const bool is_first = !std::exchange(source_is_told_, true);
    if (is_first) {
      piece.source = part.source;
      piece.until = part.until;
    }
    if (!piece.data.empty()) return false;
    const bool may_go_on = request_.follow && attempt_is_live_ && part.until;
    is_given_up_ = may_go_on && !is_first;
    return !may_go_on;
  }

  // The log may have grown since it was measured.
  void tell_extent(const RankLogPart& part, LogPiece& piece) {
    if (!extent_ || request_.follow) return;
    piece.extent = std::exchange(extent_, std::nullopt);
    piece.extent->size = std::max(piece.extent->size, part.next_offset);
    piece.extent->is_over = piece.extent->is_over || part.end;
  }

  void part_failed(const Status& status) {
    // Most attempts have no steps, and then no record of them.
    if (request_.steps && status.code() == Code::not_found) {
      has_ended_ = true;
      return give(LogPiece{.attempt = key_.attempt, .rank = key_.rank, .end = true});
    }
    give_up(status, log_->is_store_failing() ? kStoreRetryPause : kRetryPause);
  }

  // While the attempt lives, its node may come back or its rank may not be launched yet.
  void give_up(const Status& status, Duration pause) {
    if (!request_.follow || !attempt_is_live_) return fail(status);
    request_.attempt = key_.attempt;
    is_resolved_ = is_given_up_ = false;
    timer_ = loop_.call_after(pause, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->resolve();
    });
  }

  void wait_for_change() {
    watch_ = queries_.feed().watch(key_.job, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->resolve();
    });
  }

  void stop_waiting() {
    queries_.feed().unwatch(std::exchange(watch_, 0));
    loop_.cancel(std::exchange(timer_, 0));
  }

  void fail(const Status& status) {
    has_ended_ = true;
    if (Answer answer = std::exchange(answer_, nullptr)) answer(status);
  }
  void give(LogPiece piece) {
    if (Answer answer = std::exchange(answer_, nullptr)) answer(std::optional(std::move(piece)));
  }

  Loop& loop_;
  Queries& queries_;
  LogRouter& router_;
  const Caller caller_;
  LogTailRequest request_;
  Answer answer_;
  RankKey key_;
  std::string user_;  // whose job it is
  std::shared_ptr<RankLog> log_;
  std::optional<LogExtent> extent_;
  int64_t read_to_ = 0;  // the end of what was given
  bool is_resolved_ = false;
  bool is_shared_ = false;    // its reader is of the owner's user group
  bool is_given_up_ = false;  // the log store has no more: the node may be back
  bool source_is_told_ = false;
  bool attempt_is_live_ = false;
  bool has_ended_ = false;
  EventFeed::WatchId watch_ = 0;
  TimerId timer_ = 0;
};

}  // namespace

Source<LogPiece> tail_log(Loop& loop, Queries& queries, LogRouter& router, Caller caller,
                          LogTailRequest request) {
  auto tail =
      std::make_shared<LogTail>(loop, queries, router, std::move(caller), std::move(request));
  return [tail](LogTail::Answer answer) { tail->next(std::move(answer)); };
}

}  // namespace hai
