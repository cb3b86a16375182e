#pragma once
// The events of a database as a log, page by page. On the session's thread, in whatever snapshot
// that is.

#include "server/store/event_log.h"
#include "server/store/pg_session.h"

namespace hai {

// The first and last events there are, 0 and 0 if there are none.
struct EventRange {
  int64_t first = 0;
  int64_t last = 0;
};
EventRange event_range(PgSession& session);

class PgEventLog final : public EventLog {
 public:
  // Events after `after`, up to `last`.
  PgEventLog(PgSession& session, int64_t after, int64_t last)
      : session_(session), after_(after), last_(last) {}

  // `data_loss` for a gap, a row that can't be read or one filed under another subject. Throws
  // PgError.
  Result<std::vector<Event>> next_page() override;

 private:
  PgSession& session_;
  int64_t after_;
  const int64_t last_;
};

}  // namespace hai
