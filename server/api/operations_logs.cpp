// Searching logs. Reading them is a stream: log_tail.h.

#include "server/api/answers.h"
#include "server/api/log_search.h"
#include "server/api/operations.h"

namespace hai {

namespace {

Result<LogSearchRequest> search_of(const v1::SearchLogRequest& request) {
  const Result<int> limit = page_size(request.page_size(), kPageDefault, kPageMax);
  if (!limit.is_ok()) return limit.status();
  LogSearchRequest search{.job = request.job(),
                          .text = request.text(),
                          .match_case = request.match_case(),
                          .limit = limit.value(),
                          .cursor = request.cursor()};
  if (request.has_rank()) search.rank = request.rank();
  if (request.has_attempt()) search.attempt = request.attempt();
  if (request.has_since_us()) {
    const Result<UnixTime> since = asked_time("since", request.since_us());
    if (!since.is_ok()) return since.status();
    search.since = since.value();
  }
  if (request.has_until_us()) {
    const Result<UnixTime> until = asked_time("until", request.until_us());
    if (!until.is_ok()) return until.status();
    search.until = until.value();
  }
  return search;
}

void write_page(const LogSearchPage& page, v1::SearchLogReply& reply) {
  for (const FoundLine& line : page.lines) {
    v1::LogLine& out = *reply.add_lines();
    out.set_attempt(line.attempt);
    out.set_rank(line.rank);
    out.set_offset(line.offset);
    if (line.at) out.set_at_us(to_micros(*line.at));
    out.set_text(line.text);
  }
  for (const UnreadLog& log : page.unread) {
    v1::UnreadLog& out = *reply.add_unread();
    out.set_attempt(log.attempt);
    out.set_rank(log.rank);
    out.set_reason(log.reason);
  }
  reply.set_bytes(page.bytes);
  reply.set_logs_done(page.logs_done);
  reply.set_logs(page.logs);
  if (!page.next_cursor.empty()) reply.set_next_cursor(page.next_cursor);
}

}  // namespace

Prepared<v1::SearchLogReply> OperationBodies::SearchLog(const v1::SearchLogRequest& request) {
  Result<LogSearchRequest> search = search_of(request);
  if (!search.is_ok()) return search.status();
  return [this, search = std::move(search).value()](const Caller& caller,
                                                    Answer<v1::SearchLogReply> answer) {
    parts_.searches.search(caller, search, answer_with<LogSearchPage>(answer, write_page));
  };
}

}  // namespace hai
