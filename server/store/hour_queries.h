#pragma once
// The tables history_hour and history_wait: what happened in each hour, counted from the event log.
// Run on PgHistory's thread.

#include "common/hour_store.h"
#include "server/store/pg_session.h"

namespace hai {

inline constexpr int kEventsCountedMax = 20'000;  // at once: some 0.2 s

// In one transaction with the place in the log up to which it was done, so that each event counts
// once. True if more are left.
bool count_hours(PgSession& session, Duration keep, int events_max = kEventsCountedMax);
// Until none is left; before events go that the server has not counted yet.
void count_all_events(PgSession& session);
HourReport find_hours(PgSession& session, UnixTime since, UnixTime until, Duration step);

}  // namespace hai
