#include "server/api/log_search.h"

#include <algorithm>
#include <charconv>

#include "common/log_messages.h"
#include "server/api/log_scan.h"
#include "server/api/rank_log.h"

namespace hai {

namespace {

// Where a search stands: in which log, and at which byte.
struct SearchPlace {
  int attempt = 0;
  int rank = 0;
  int64_t offset = 0;
};

std::string format_cursor(const SearchPlace& place) {
  return fmt::format("{}.{}.{}", place.attempt, place.rank, place.offset);
}

template <typename Number>
bool take_part(std::string_view& text, Number& out) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || out < 0) return false;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  if (!text.empty() && text[0] == '.') text.remove_prefix(1);
  return true;
}

Result<std::optional<SearchPlace>> place_of_cursor(const std::string& cursor) {
  if (cursor.empty()) return std::optional<SearchPlace>();
  SearchPlace place;
  std::string_view rest = cursor;
  const bool is_read = take_part(rest, place.attempt) && take_part(rest, place.rank) &&
                       take_part(rest, place.offset) && rest.empty();
  if (!is_read) return invalid_argument("cursor: is not one that a page of a search gave");
  return std::optional(place);
}

Status check_search(const LogSearchRequest& request) {
  if (request.text.empty()) return invalid_argument("text: is missing");
  if (request.text.size() > LogSearches::kTextBytesMax) {
    return invalid_argument("text: has {} bytes, allowed is {}", request.text.size(),
                            LogSearches::kTextBytesMax);
  }
  if (request.text.find('\n') != std::string::npos) {
    return invalid_argument("text: is looked for in one line, and has a line break");
  }
  if (request.limit < 1 || request.limit > kPageMax) {
    return invalid_argument("limit: 1 to {}, is {}", kPageMax, request.limit);
  }
  return place_of_cursor(request.cursor).status();
}

}  // namespace

//   find the job ─▶ its attempts ─▶ for each log: [seek `since`] ─▶ read ─▶ scan ─▶ read … ─▶ next
class LogSearch : public std::enable_shared_from_this<LogSearch> {
 public:
  LogSearch(Loop& loop, Queries& queries, LogRouter& router, SideThread& scanner, Caller caller,
            LogSearchRequest request, Done<LogSearchPage> done)
      : loop_(loop),
        queries_(queries),
        router_(router),
        scanner_(scanner),
        caller_(std::move(caller)),
        request_(std::move(request)),
        matcher_(std::make_shared<LogMatcher>(request_.text, request_.match_case)),
        done_(std::move(done)),
        began_(loop.now()),
        seek_timer_(loop) {}

  void start() {
    const Result<std::optional<SearchPlace>> place = place_of_cursor(request_.cursor);
    if (!place.is_ok()) return finish(place.status());
    resume_at_ = place.value();
    queries_.find_job(caller_, request_.job, later(&LogSearch::found_job));
  }

 private:
  template <typename T>
  Done<T> later(void (LogSearch::*method)(Result<T>)) {
    return [weak = weak_from_this(), method](Result<T> result) {
      if (auto self = weak.lock()) (self.get()->*method)(std::move(result));
    };
  }

  void found_job(Result<Queries::FoundJob> result) {
    if (!result.is_ok()) return finish(result.status());
    const Queries::FoundJob& found = result.value();
    const Job& job = found.job;
    if (const Status status = found.check_log(); !status.is_ok()) return finish(status);
    job_ = job.id;
    user_ = job.user;
    names_ = found.view.nodes;
    latest_ = job.attempt_number();
    if (job.attempt) attempts_.push_back(*job.attempt);
    const bool is_here =
        request_.attempt && (*request_.attempt == 0 || *request_.attempt == latest_);
    if (is_here || queries_.history() == nullptr || latest_ <= 1) return look_through();
    queries_.history()->attempts(job.id, later(&LogSearch::got_attempts));
  }

  void got_attempts(Result<std::vector<Attempt>> attempts) {
    if (!attempts.is_ok()) return finish(attempts.status());
    for (Attempt& attempt : attempts.value()) {
      const bool is_known =
          std::ranges::find(attempts_, attempt.number, &Attempt::number) != attempts_.end();
      if (!is_known) attempts_.push_back(std::move(attempt));
    }
    look_through();
  }

  // Times are those of the lines, by their node's clock: they leave no attempt out by the server's.
  bool is_asked(const Attempt& attempt) const {
    return !request_.attempt ||
           attempt.number == (*request_.attempt == 0 ? latest_ : *request_.attempt);
  }

  bool is_asked(int rank) const { return !request_.rank || *request_.rank == rank; }

  void look_through() {
    std::erase_if(attempts_, [this](const Attempt& attempt) { return !is_asked(attempt); });
    std::ranges::sort(attempts_, std::ranges::greater(), &Attempt::number);
    for (size_t i = 0; i < attempts_.size(); ++i) {
      for (int rank = 0; rank < static_cast<int>(attempts_[i].ranks.size()); ++rank) {
        if (is_asked(rank)) logs_.push_back({i, rank});
      }
    }
    page_.logs = static_cast<int64_t>(logs_.size());
    if (attempts_.empty() && request_.attempt && latest_ > 0) {
      return finish(not_found("attempt {} of job {} is not kept", *request_.attempt, job_.value));
    }
    if (logs_.empty() && request_.rank && !attempts_.empty()) {
      return finish(not_found("job {} has no rank {}", job_.value, *request_.rank));
    }
    next_log();
  }

  // Those before the place of the cursor were looked through by the calls before.
  bool is_before_resume(const Attempt& attempt, int rank) const {
    if (!resume_at_) return false;
    if (attempt.number != resume_at_->attempt) return attempt.number > resume_at_->attempt;
    return rank < resume_at_->rank;
  }

  // Posted, so that many logs that cannot be read do not deepen the stack.
  void next_log() {
    seek_timer_.cancel();
    log_.reset();
    loop_.post([weak = weak_from_this()] {
      if (auto self = weak.lock()) self->begin_log();
    });
  }

  void begin_log() {
    while (at_ < logs_.size() && is_before_resume(attempts_[logs_[at_].attempt], logs_[at_].rank)) {
      ++at_;
    }
    if (at_ == logs_.size()) return finish_page("");
    const Attempt& attempt = attempts_[logs_[at_].attempt];
    const RankKey key{job_, attempt.number, logs_[at_].rank};
    const bool is_resumed =
        resume_at_ && resume_at_->attempt == key.attempt && resume_at_->rank == key.rank;
    offset_ = is_resumed ? resume_at_->offset : 0;
    if (!is_resumed && is_spent()) return finish_page(format_cursor({key.attempt, key.rank, 0}));
    const std::vector<std::string> names =
        key.attempt == latest_ ? names_ : std::vector<std::string>();
    log_ = std::make_shared<RankLog>(router_, queries_, key, user_,
                                     node_of(queries_, names, attempt, key.rank));
    half_line_end_.reset();
    if (!request_.since || offset_ > 0) return read();
    // What is asked of the log is dropped with it.
    seek_timer_.arm(LogSearches::kSeekTimeMax, [this] {
      skip(deadline_exceeded("where its lines of that time begin was not found within {}",
                             format_duration(LogSearches::kSeekTimeMax)));
    });
    log_->extent(later(&LogSearch::got_extent));
  }

  void got_extent(Result<LogExtent> extent) {
    if (!extent.is_ok()) return skip(extent.status());
    seek_log(log_, extent.value(), *request_.since, later(&LogSearch::got_place));
  }

  void got_place(Result<int64_t> place) {
    if (!place.is_ok()) return skip(place.status());
    seek_timer_.cancel();
    offset_ = place.value();
    read();
  }

  void read() {
    log_->read({.offset = offset_, .max_bytes = kMaxLogChunkBytes}, later(&LogSearch::got_part));
  }

  void got_part(Result<RankLogPart> result) {
    if (!result.is_ok()) return skip(result.status());
    RankLogPart& part = result.value();
    if (part.data.empty()) return log_is_done();
    // A line that is being written may not say yet what it will; the next search has it whole.
    // Bytes that follow it at once are of that line; where some are missing, another one begins.
    if (half_line_end_ && part.offset <= *half_line_end_) return log_is_done();
    half_line_end_.reset();
    const bool grows = !part.end && attempts_[logs_[at_].attempt].is_live();
    const bool is_all = static_cast<int64_t>(part.data.size()) < kMaxLogChunkBytes;
    if (grows && is_all && part.data.find('\n') == std::string::npos) {
      offset_ = part.next_offset;
      half_line_end_ = offset_;
      return read();
    }
    page_.bytes += static_cast<int64_t>(part.data.size());
    const bool is_end = part.end || (is_all && !grows);
    const size_t hits_max = static_cast<size_t>(request_.limit) - page_.lines.size();
    const bool is_taken =
        scanner_.post([matcher = matcher_, data = std::move(part.data), offset = part.offset,
                       is_end, hits_max, since = request_.since, until = request_.until,
                       answer = later(&LogSearch::scanned)]() -> SideThread::Answer {
          auto scan = std::make_shared<LogScan>(scan_log(*matcher, {.data = data,
                                                                    .offset = offset,
                                                                    .is_end = is_end,
                                                                    .since = since,
                                                                    .until = until,
                                                                    .hits_max = hits_max}));
          return [answer, scan] { answer(std::move(*scan)); };
        });
    if (!is_taken) finish(resource_exhausted("too many searches are under way; try again later"));
  }

  void scanned(Result<LogScan> result) {
    LogScan& scan = result.value();
    const RankKey& key = log_->key();
    for (LogHit& hit : scan.hits) {
      page_.lines.push_back({.attempt = key.attempt,
                             .rank = key.rank,
                             .offset = hit.offset,
                             .at = hit.at,
                             .text = std::move(hit.text)});
    }
    offset_ = scan.next_offset;
    if (scan.is_past_until) return log_is_done();
    if (is_spent()) return finish_page(format_cursor({key.attempt, key.rank, offset_}));
    read();
  }

  void skip(const Status& status) {
    if (page_.unread.size() < LogSearches::kUnreadMax) {
      page_.unread.push_back({log_->key().attempt, log_->key().rank, status.message()});
    }
    log_is_done();
  }

  void log_is_done() {
    ++at_;
    resume_at_.reset();
    next_log();
  }

  bool is_spent() const {
    return page_.lines.size() >= static_cast<size_t>(request_.limit) ||
           page_.bytes >= LogSearches::kBytesMax || loop_.now() - began_ >= LogSearches::kTimeMax;
  }

  void finish_page(std::string cursor) {
    page_.logs_done = static_cast<int64_t>(at_);
    page_.next_cursor = std::move(cursor);
    finish(std::move(page_));
  }

  // The last that it does: its owner drops it.
  void finish(Result<LogSearchPage> result) {
    if (Done<LogSearchPage> done = std::exchange(done_, nullptr)) done(std::move(result));
  }

  struct OneLog {
    size_t attempt;  // its place in attempts_
    int rank;
  };

  Loop& loop_;
  Queries& queries_;
  LogRouter& router_;
  SideThread& scanner_;
  const Caller caller_;
  const LogSearchRequest request_;
  const std::shared_ptr<const LogMatcher> matcher_;
  Done<LogSearchPage> done_;
  const MonoTime began_;
  std::optional<SearchPlace> resume_at_;
  JobId job_;
  std::string user_;                // whose job it is
  std::vector<std::string> names_;  // of the nodes of the latest attempt
  int latest_ = 0;
  std::vector<Attempt> attempts_;
  std::vector<OneLog> logs_;  // in the order of the search
  size_t at_ = 0;             // in logs_
  std::shared_ptr<RankLog> log_;
  int64_t offset_ = 0;
  std::optional<int64_t> half_line_end_;  // of the line that is being written, as far as it is read
  LoopTimer seek_timer_;
  LogSearchPage page_;
};

LogSearches::LogSearches(Loop& loop, Queries& queries, LogRouter& router)
    : loop_(loop), queries_(queries), router_(router), scanner_(loop, 2 * kRunningMax) {}
LogSearches::~LogSearches() = default;

void LogSearches::search(const Caller& caller, LogSearchRequest request, Done<LogSearchPage> done) {
  if (const Status status = check_search(request); !status.is_ok()) return done(status);
  auto asked = std::make_shared<Asked>(Asked{caller, std::move(request), done});
  queries_.controller().read(
      caller, scope_.bind([this, asked](const Controller::ReadContext&, const Actor& actor) {
        take(actor.user, std::move(*asked));
      }),
      done);
}

void LogSearches::take(const std::string& user, Asked asked) {
  std::deque<Asked>& mine = waiting_[user];
  if (mine.size() >= kWaitingMax) {
    return asked.done(
        resource_exhausted("{} has {} searches waiting already, which is the most: leave one first",
                           user, mine.size()));
  }
  if (mine.empty()) turns_.push_back(user);
  mine.push_back(std::move(asked));
  start_some();
}

// Whose call is under way waits for its end; then he comes behind all who wait by then.
void LogSearches::start_some() {
  for (size_t looked = 0, users = turns_.size(); looked < users; ++looked) {
    if (running_.size() >= kRunningMax) return;
    const std::string user = std::move(turns_.front());
    turns_.pop_front();
    if (running_.contains(user)) {
      turns_.push_back(user);
      continue;
    }
    const auto mine = waiting_.find(user);
    Asked asked = std::move(mine->second.front());
    mine->second.pop_front();
    if (mine->second.empty()) {
      waiting_.erase(mine);
    } else {
      turns_.push_back(user);
    }
    start(user, std::move(asked));
  }
}

void LogSearches::start(const std::string& user, Asked asked) {
  auto search = std::make_shared<LogSearch>(
      loop_, queries_, router_, scanner_, asked.caller, std::move(asked.request),
      [this, user, done = std::move(asked.done)](Result<LogSearchPage> page) {
        finished(user, done, std::move(page));
      });
  running_[user] = search;
  search->start();
}

// Posted: the search that has ended is still on the stack.
void LogSearches::finished(const std::string& user, const Done<LogSearchPage>& done,
                           Result<LogSearchPage> page) {
  loop_.post(scope_.bind([this, user] {
    running_.erase(user);
    start_some();
  }));
  done(std::move(page));
}

}  // namespace hai
