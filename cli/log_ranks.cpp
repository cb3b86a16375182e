#include "cli/log_ranks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <queue>
#include <thread>
#include <vector>

#include "cli/client.h"
#include "cli/patience.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

constexpr int64_t kWindowBytesMax = 256 << 10;
constexpr int64_t kWindowsBytes = 64 << 20;  // of all ranks together
constexpr Duration kLookAgain = 1s;

// The log of one rank, read in parts.
struct RankReader {
  int rank = 0;
  int64_t offset = 0;
  std::deque<std::string> lines;
  std::string rest;  // of a line whose end has not come yet
  bool is_at_end = false;
  bool is_over = false;
  std::string trouble;
};

class Merge {
 public:
  Merge(Client& client, RanksOptions options, int ranks)
      : client_(client),
        options_(std::move(options)),
        readers_(static_cast<size_t>(ranks)),
        window_(
            std::clamp<int64_t>(kWindowsBytes / std::max(ranks, 1), 32 << 10, kWindowBytesMax)) {
    for (int rank = 0; rank < ranks; ++rank) readers_[static_cast<size_t>(rank)].rank = rank;
  }

  Status run() {
    for (;;) {
      RETURN_IF_ERROR(drain());
      const bool is_over = std::ranges::all_of(readers_, &RankReader::is_over);
      if (!options_.follow || is_over) break;
      std::fflush(stdout);
      std::this_thread::sleep_for(std::max<Duration>(
          kLookAgain, std::chrono::milliseconds(20) * static_cast<int64_t>(readers_.size())));
      for (RankReader& reader : readers_) reader.is_at_end = reader.is_over;
    }
    for (RankReader& reader : readers_) {
      if (!reader.rest.empty()) print(reader, reader.rest);
      if (!reader.trouble.empty()) say(fmt::format("rank {}: {}", reader.rank, reader.trouble));
    }
    std::fflush(stdout);
    return ok();
  }

 private:
  using Next = std::pair<std::string, int>;  // the time of its next line, and the rank

  // All lines that are there now. A reader without lines is asked for more before anything later
  // is printed.
  Status drain() {
    std::priority_queue<Next, std::vector<Next>, std::greater<>> order;
    for (RankReader& reader : readers_) {
      RETURN_IF_ERROR(fill(reader));
      if (!reader.lines.empty()) order.emplace(time_of(reader.lines.front()), reader.rank);
    }
    while (!order.empty()) {
      RankReader& reader = readers_[static_cast<size_t>(order.top().second)];
      order.pop();
      print(reader, reader.lines.front());
      reader.lines.pop_front();
      RETURN_IF_ERROR(fill(reader));
      if (!reader.lines.empty()) order.emplace(time_of(reader.lines.front()), reader.rank);
    }
    return ok();
  }

  static std::string time_of(const std::string& line) { return line.substr(0, line.find(' ')); }

  static void print(const RankReader& reader, const std::string& line) {
    const std::string text = fmt::format("{}: {}\n", reader.rank, line);
    std::fwrite(text.data(), 1, text.size(), stdout);
  }

  Status fill(RankReader& reader) {
    while (reader.lines.empty() && !reader.is_at_end) RETURN_IF_ERROR(read_more(reader));
    return ok();
  }

  Status read_more(RankReader& reader) {
    v1::ReadLogRequest request;
    request.set_job(options_.job);
    request.set_rank(reader.rank);
    request.set_attempt(options_.attempt);
    request.set_max_bytes(window_);
    if (reader.offset == 0 && options_.since) {
      request.set_since_us(to_micros(*options_.since));
    } else {
      request.set_offset(reader.offset);
    }
    int64_t size = 0;
    bool is_over = false;
    int64_t next = reader.offset;
    std::string data;
    const Status status = client_.read_log(request, [&](const v1::ReadLogReply& piece) {
      patience_.heard();
      data += piece.data();
      next = piece.offset() + static_cast<int64_t>(piece.data().size());
      if (piece.has_extent()) {
        size = piece.extent().size();
        is_over = piece.extent().over();
      }
      return !piece.end();
    });
    if (status.is_ok()) {
      reader.trouble.clear();
      reader.offset = next;
      reader.is_at_end = data.empty() || next >= size;
      reader.is_over = reader.is_at_end && is_over;
      add(reader, data);
      return ok();
    }
    return judge(reader, status);
  }

  // The job cannot be read by anybody who asks so, or this one rank cannot now.
  Status judge(RankReader& reader, const Status& status) {
    if (status.code() == Code::permission_denied || status.code() == Code::unauthenticated ||
        status.code() == Code::invalid_argument) {
      return status;
    }
    reader.trouble = status.message();
    reader.is_at_end = true;
    if (!options_.follow) reader.is_over = true;
    if (options_.follow && status.code() != Code::not_found && !patience_.retry(status)) {
      return status;
    }
    return ok();
  }

  static void add(RankReader& reader, const std::string& data) {
    size_t at = 0;
    for (;;) {
      const size_t newline = data.find('\n', at);
      if (newline == std::string::npos) break;
      reader.lines.push_back(reader.rest + data.substr(at, newline - at));
      reader.rest.clear();
      at = newline + 1;
    }
    reader.rest += data.substr(at);
  }

  Client& client_;
  const RanksOptions options_;
  std::vector<RankReader> readers_;
  const int64_t window_;
  Patience patience_;
};

}  // namespace

Status print_log_of_ranks(Client& client, const RanksOptions& options) {
  v1::GetJobRequest request;
  request.set_job(options.job);
  const Result<v1::Job> job = client.get_job(request);
  RETURN_IF_ERROR(job.status());
  RanksOptions current = options;
  current.job = std::to_string(job.value().id());
  if (current.attempt == 0) current.attempt = job.value().attempt();
  return Merge(client, current, job.value().node_count()).run();
}

Result<int64_t> print_found_lines(Client& client, const GrepOptions& options) {
  v1::SearchLogRequest request;
  request.set_job(options.job);
  request.set_text(options.text);
  request.set_match_case(options.match_case);
  if (options.rank) request.set_rank(*options.rank);
  if (options.attempt) request.set_attempt(*options.attempt);
  if (options.since) request.set_since_us(to_micros(*options.since));
  request.set_page_size(1'000);
  int64_t found = 0;
  for (;;) {
    const Result<v1::SearchLogReply> page = client.search_log(request);
    RETURN_IF_ERROR(page.status());
    for (const v1::LogLine& line : page.value().lines()) {
      std::string text = fmt::format("{}.{}: ", line.attempt(), line.rank());
      if (line.has_at_us()) text += format_rfc3339(unix_micros(line.at_us())) + " ";
      text += line.text() + "\n";
      std::fwrite(text.data(), 1, text.size(), stdout);
    }
    std::fflush(stdout);
    found += page.value().lines_size();
    for (const v1::UnreadLog& log : page.value().unread()) {
      say(fmt::format("attempt {}, rank {} was not looked through: {}", log.attempt(), log.rank(),
                      log.reason()));
    }
    if (!page.value().has_next_cursor()) return found;
    request.set_cursor(page.value().next_cursor());
  }
}

}  // namespace hai::cli
