#include "server/api/log_tail.h"

#include <algorithm>

#include "common/loop.h"
#include "server/api/event_feed.h"
#include "server/api/stored_logs.h"

namespace hai {

namespace {

constexpr int64_t kPieceBytes = 256 << 10;
constexpr Duration kRetryPause = 500ms;
constexpr Duration kStoreRetryPause = 2s;  // while the log store has no more and the node is away

// Whether the log may be elsewhere: its node is away, silent, or has forgotten it.
bool is_of_node(const Status& status) {
  return status.code() == Code::unavailable || status.code() == Code::deadline_exceeded ||
         status.code() == Code::not_found;
}

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
    if (!is_resolved_) {
      resolve();
    } else if (node_failed_) {
      read_stored();
    } else {
      read();
    }
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
    if (!found.may_control) {
      return fail(permission_denied("job {} belongs to {}: only he and operators read its logs",
                                    job.id.value, job.user));
    }
    request_.job = std::to_string(job.id.value);
    user_ = job.user;
    if (std::exchange(request_.announce, false)) {
      if (Status status = check_rank(job); !status.is_ok()) return fail(status);
      return give(LogPiece{.attempt = request_.attempt, .rank = request_.rank});
    }
    key_ = {job.id, request_.attempt == 0 ? job.attempt_number() : request_.attempt, request_.rank};
    if (key_.attempt > job.attempt_number() || !job.attempt) {
      if (request_.follow && !job.is_terminal()) return wait_for_change();
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

  // What an answer that has begun could not say any more.
  Status check_rank(const Job& job) const {
    const int ranks = job.spec->node_count;
    if (request_.rank < 0 || request_.rank >= ranks) {
      return not_found("job {} has ranks 0 to {}, not {}", job.id.value, ranks - 1, request_.rank);
    }
    if (job.is_terminal() && job.attempt_number() == 0) {
      return failed_precondition("job {} has not started, so it has no log", job.id.value);
    }
    if (job.is_terminal() && request_.attempt > job.attempt_number()) {
      return not_found("job {} has {} attempts, not {}", job.id.value, job.attempt_number(),
                       request_.attempt);
    }
    return ok();
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
    if (key_.rank < 0 || static_cast<size_t>(key_.rank) >= attempt.ranks.size()) {
      return fail(not_found("job {} has ranks 0 to {}, not {}", key_.job.value,
                            static_cast<int64_t>(attempt.ranks.size()) - 1, key_.rank));
    }
    const auto rank = static_cast<size_t>(key_.rank);
    if (rank < names.size()) {
      node_ = names[rank];
    } else if (const Node* node =
                   queries_.controller().state().find(attempt.ranks[rank].place.node)) {
      node_ = node->facts.name;
    }
    is_resolved_ = true;
    if (node_.empty()) {
      return chunk_failed(unavailable("the node of rank {} is not known", key_.rank));
    }
    read();
  }

  void read() {
    const LogRequest request{.key = key_,
                             .offset = request_.offset,
                             .max_bytes = kPieceBytes,
                             .tail_bytes = request_.tail_bytes,
                             .wait = request_.follow ? kMaxLogWait : Duration(0)};
    router_.read(node_, request, later(&LogTail::got_chunk));
  }

  void got_chunk(Result<LogChunk> result) {
    if (!result.is_ok()) return chunk_failed(result.status());
    LogChunk chunk = std::move(result).value();
    request_.offset = chunk.next_offset;
    request_.tail_bytes = 0;
    const bool end = chunk.end || (!request_.follow && chunk.data.empty());
    if (chunk.data.empty() && !end) return read();
    has_ended_ = end;
    give(LogPiece{std::move(chunk.data), chunk.offset, key_.attempt, key_.rank, end});
  }

  void chunk_failed(const Status& status) {
    if (router_.stored() == nullptr || !is_of_node(status)) return give_up(status, kRetryPause);
    node_failed_ = status;
    read_stored();
  }

  // While the attempt lives, its node may come back or its rank may not be launched yet.
  void give_up(const Status& status, Duration pause) {
    if (!request_.follow || !attempt_is_live_) return fail(status);
    request_.attempt = key_.attempt;
    node_.clear();
    is_resolved_ = false;
    node_failed_.reset();
    timer_ = loop_.call_after(pause, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->resolve();
    });
  }

  void read_stored() {
    router_.stored()->read({.key = key_,
                            .user = user_,
                            .offset = request_.offset,
                            .max_bytes = kPieceBytes,
                            .tail_bytes = request_.tail_bytes},
                           later(&LogTail::got_stored));
  }

  void got_stored(Result<StoredLogPart> result) {
    if (!result.is_ok()) {
      // A rank that is just starting has no log anywhere, and will soon.
      const Duration pause =
          result.status().code() == Code::not_found ? kRetryPause : kStoreRetryPause;
      return give_up(Status(node_failed_->code(), fmt::format("{}; {}", node_failed_->message(),
                                                              result.status().message())),
                     pause);
    }
    StoredLogPart& stored = result.value();
    LogPiece piece{std::move(stored.part.bytes), stored.part.offset, key_.attempt, key_.rank};
    const bool is_first = !std::exchange(source_is_told_, true);
    if (is_first) piece.source = why_not_node() + ": from the log store";
    if (is_first && !stored.is_whole) piece.until = stored.written_at;
    if (!piece.data.empty()) {
      request_.offset = stored.part.next_offset;
      request_.tail_bytes = 0;
      return give(std::move(piece));
    }
    const bool may_go_on = request_.follow && attempt_is_live_ && !stored.is_whole;
    if (may_go_on && !is_first) return give_up(*node_failed_, kStoreRetryPause);
    has_ended_ = piece.end = !may_go_on;
    give(std::move(piece));
  }

  std::string why_not_node() const {
    const Node* node = queries_.controller().state().find_node(node_);
    if (node == nullptr) return "its node is not known any more";
    if (node->liveness == Liveness::down) return fmt::format("node {} is down", node_);
    if (node_failed_->code() == Code::not_found) {
      return fmt::format("node {} has not kept this log", node_);
    }
    if (node_failed_->code() == Code::deadline_exceeded) {
      return fmt::format("node {} does not answer", node_);
    }
    return fmt::format("node {} is not connected", node_);
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
  std::string node_;
  bool is_resolved_ = false;
  std::optional<Status> node_failed_;  // the log store is read instead
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
