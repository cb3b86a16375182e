#include "server/api/rank_log.h"

#include <algorithm>
#include <limits>

#include "common/log_part.h"
#include "server/api/log_scan.h"
#include "server/api/stored_logs.h"

namespace hai {

namespace {

// Behind each end: what is read there says where the end is.
constexpr int64_t kBehindAll = std::numeric_limits<int64_t>::max();

// Whether the log may be elsewhere: its node is away, silent, or has forgotten it.
bool may_be_elsewhere(const Status& status) {
  return status.code() == Code::unavailable || status.code() == Code::deadline_exceeded ||
         status.code() == Code::not_found;
}

RankLogPart part_of_node(LogChunk chunk) {
  return {.data = std::move(chunk.data),
          .offset = chunk.offset,
          .next_offset = chunk.next_offset,
          .end = chunk.end};
}

}  // namespace

RankLog::RankLog(LogRouter& router, Queries& queries, RankKey key, std::string user,
                 std::string node)
    : router_(router),
      queries_(queries),
      key_(key),
      user_(std::move(user)),
      node_(std::move(node)) {
  if (node_.empty()) node_failed_ = unavailable("the node of rank {} is not known", key_.rank);
}

void RankLog::read(const LogRange& range, Done<RankLogPart> done) {
  if (node_failed_ && router_.stored() == nullptr) return done(*node_failed_);
  if (node_failed_) return read_stored(range, std::move(done));
  const LogRequest request{.key = key_,
                           .offset = range.offset,
                           .max_bytes = range.max_bytes,
                           .tail_bytes = range.tail_bytes,
                           .wait = range.wait};
  router_.read(node_, request,
               [weak = weak_from_this(), range, done = std::move(done)](Result<LogChunk> result) {
                 if (auto self = weak.lock()) self->got_chunk(range, done, std::move(result));
               });
}

void RankLog::got_chunk(const LogRange& range, Done<RankLogPart> done, Result<LogChunk> result) {
  if (!result.is_ok()) {
    is_store_failing_ = false;
    if (router_.stored() == nullptr || !may_be_elsewhere(result.status())) {
      return done(result.status());
    }
    node_failed_ = result.status();
    return read_stored(range, std::move(done));
  }
  LogChunk chunk = std::move(result).value();
  const bool lacks_older = range.tail_bytes == 0 && chunk.offset > range.offset;
  if (lacks_older && router_.stored() != nullptr) {
    return read_older(range, std::move(done), std::move(chunk));
  }
  done(part_of_node(std::move(chunk)));
}

// The node has dropped the oldest bytes of a long log; the store may have them.
void RankLog::read_older(const LogRange& range, Done<RankLogPart> done, LogChunk chunk) {
  ask_store(range, [done = std::move(done),
                    chunk = std::move(chunk)](Result<StoredLogPart> result) mutable {
    if (!result.is_ok() || result.value().part.offset >= chunk.offset ||
        result.value().part.bytes.empty()) {
      return done(part_of_node(std::move(chunk)));
    }
    LogPart& part = result.value().part;
    const auto missing = static_cast<size_t>(chunk.offset - part.offset);
    if (part.bytes.size() > missing) part.bytes.resize(missing);
    const int64_t next = part.offset + static_cast<int64_t>(part.bytes.size());
    done(RankLogPart{
        .data = std::move(part.bytes), .offset = part.offset, .next_offset = next, .end = false});
  });
}

void RankLog::read_stored(const LogRange& range, Done<RankLogPart> done) {
  ask_store(range, [weak = weak_from_this(), done = std::move(done)](Result<StoredLogPart> result) {
    auto self = weak.lock();
    if (!self) return;
    if (!result.is_ok()) {
      self->is_store_failing_ = result.status().code() != Code::not_found;
      return done(
          Status(self->node_failed_->code(),
                 fmt::format("{}; {}", self->node_failed_->message(), result.status().message())));
    }
    StoredLogPart& stored = result.value();
    RankLogPart part{.data = std::move(stored.part.bytes),
                     .offset = stored.part.offset,
                     .next_offset = stored.part.next_offset,
                     .end = stored.is_whole && stored.part.next_offset >= stored.part.end_offset,
                     .source = self->why_not_node() + ": from the log store"};
    if (!stored.is_whole) part.until = stored.written_at;
    done(std::move(part));
  });
}

void RankLog::ask_store(const LogRange& range, Done<StoredLogPart> done) {
  router_.stored()->read(
      {.key = key_,
       .user = user_,
       .offset = range.offset,
       .max_bytes = range.max_bytes,
       .tail_bytes = range.tail_bytes},
      [weak = weak_from_this(), done = std::move(done)](Result<StoredLogPart> result) {
        if (!weak.expired()) done(std::move(result));
      });
}

void RankLog::extent(Done<LogExtent> done) {
  read({.offset = kBehindAll, .max_bytes = 1},
       [weak = weak_from_this(), done = std::move(done)](Result<RankLogPart> end) {
         auto self = weak.lock();
         if (!self) return;
         if (!end.is_ok()) return done(end.status());
         // A rank that is just starting has no log yet, and its agent says the place asked for.
         const bool is_there = end.value().offset != kBehindAll;
         const LogExtent extent{
             .begin = 0, .size = is_there ? end.value().offset : 0, .is_over = end.value().end};
         if (extent.size == 0) return done(extent);
         self->read({.offset = 0, .max_bytes = 1}, [extent, done](Result<RankLogPart> begin) {
           if (!begin.is_ok()) return done(begin.status());
           LogExtent whole = extent;
           whole.begin = std::min(begin.value().offset, extent.size);
           done(whole);
         });
       });
}

std::string RankLog::why_not_node() const {
  if (node_.empty()) return "its node is not known any more";
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

std::string node_of(Queries& queries, const std::vector<std::string>& names, const Attempt& attempt,
                    int rank) {
  const auto at = static_cast<size_t>(rank);
  if (at < names.size()) return names[at];
  const Node* node = queries.controller().state().find(attempt.ranks[at].place.node);
  return node == nullptr ? "" : node->facts.name;
}

namespace {

// Halves the part of the log in which the line must begin, until it is read line by line.
class LogSeek : public std::enable_shared_from_this<LogSeek> {
 public:
  static constexpr int64_t kLineBytesMax = static_cast<int64_t>(kLogLineBytesMax) + 64;
  static constexpr int64_t kReadBytes = 8 * kLineBytesMax;

  LogSeek(const std::shared_ptr<RankLog>& log, const LogExtent& extent, UnixTime since,
          Done<int64_t> done)
      : log_(log),
        since_(since),
        done_(std::move(done)),
        low_(extent.begin),
        high_(extent.size),
        end_(extent.size) {}

  void step() {
    if (high_ - low_ <= kReadBytes) return read_on();
    const int64_t middle = low_ + (high_ - low_) / 2;
    read(middle, 2 * kLineBytesMax, [middle](LogSeek& self, const RankLogPart& part) {
      const std::optional<int64_t> later = self.first_later(part, /*skip_first=*/true);
      if (later) {
        // Some line here is late enough; whether the first one is, decides on which side to look.
        self.high_ = std::min(middle, self.high_ - 1);
      } else {
        self.low_ = std::max(middle, self.low_ + 1);
        self.is_at_line_ = false;
      }
      self.step();
    });
  }

 private:
  template <typename Then>
  void read(int64_t offset, int64_t bytes, Then then) {
    const auto log = log_.lock();
    if (!log) return;
    log->read({.offset = offset, .max_bytes = bytes},
              [self = shared_from_this(), then](Result<RankLogPart> part) {
                if (!part.is_ok()) return self->done_(part.status());
                then(*self, part.value());
              });
  }

  // Where the first line begins that was written late enough.
  std::optional<int64_t> first_later(const RankLogPart& part, bool skip_first) const {
    size_t at = 0;
    if (skip_first) {
      const size_t newline = part.data.find('\n');
      if (newline == std::string::npos) return std::nullopt;
      at = newline + 1;
    }
    while (at < part.data.size()) {
      const size_t end = std::min(part.data.find('\n', at), part.data.size());
      const LogLineView line = split_log_line(std::string_view(part.data).substr(at, end - at));
      if (line.at && *line.at >= since_) return part.offset + static_cast<int64_t>(at);
      at = end + 1;
    }
    return std::nullopt;
  }

  void read_on() {
    // What begins in the middle of a line may be cut in its time.
    const bool skip_first = !std::exchange(is_at_line_, true);
    read(low_, kReadBytes, [skip_first](LogSeek& self, const RankLogPart& part) {
      if (const auto found = self.first_later(part, skip_first && part.offset == self.low_)) {
        return self.done_(*found);
      }
      if (part.data.empty() || part.next_offset >= self.end_) return self.done_(self.end_);
      const size_t newline = part.data.rfind('\n');
      const int64_t next = newline == std::string::npos || newline == 0
                               ? part.next_offset
                               : part.offset + static_cast<int64_t>(newline);
      self.low_ = std::max(next, self.low_ + 1);
      self.read_on();
    });
  }

  const std::weak_ptr<RankLog> log_;  // who drops it wants no answer any more
  const UnixTime since_;
  const Done<int64_t> done_;
  int64_t low_;
  int64_t high_;
  const int64_t end_;
  bool is_at_line_ = true;  // a line begins at low_, or ends just there
};

}  // namespace

void seek_log(const std::shared_ptr<RankLog>& log, const LogExtent& extent, UnixTime since,
              Done<int64_t> done) {
  std::make_shared<LogSeek>(log, extent, since, std::move(done))->step();
}

}  // namespace hai
