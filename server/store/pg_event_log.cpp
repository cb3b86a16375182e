#include "server/store/pg_event_log.h"

#include "server/store/pg_rows.h"

namespace hai {
namespace {

constexpr int kPageRows = 5'000;

const PgStatement& page_statement() {
  static const std::string sql = fmt::format(
      "SELECT {}, {} FROM event WHERE seq > $1::bigint AND seq <= $2::bigint"
      " ORDER BY seq LIMIT {}",
      select_list<Event>(), copies_list<Event>(), kPageRows);
  static const PgStatement statement{"event_log_page", sql.c_str()};
  return statement;
}

}  // namespace

EventRange event_range(PgSession& session) {
  PgResult row = session.run("SELECT coalesce(min(seq), 0), coalesce(max(seq), 0) FROM event");
  return {row.integer(0, 0), row.integer(0, 1)};
}

Result<std::vector<Event>> PgEventLog::next_page() {
  std::vector<Event> events;
  if (after_ >= last_) return events;
  PgResult rows = session_.call(page_statement(), {std::to_string(after_), std::to_string(last_)});
  events.reserve(static_cast<size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    const int64_t seq = rows.integer(row, 0);
    if (seq != after_ + 1) {
      return Status(Code::data_loss, fmt::format("the event log has {} after {}", seq, after_));
    }
    after_ = seq;
    try {
      events.push_back(read_row<Event>(rows, row));
    } catch (const PgError& error) {
      return Status(Code::data_loss, error.what());
    }
    if (const auto subject = wrong_copy(rows, row, events.back())) {
      return Status(Code::data_loss, fmt::format("event {} is filed under '{}'", seq, *subject));
    }
  }
  return events;
}

}  // namespace hai
