#pragma once
// What the archiver asks of the database and tells it. All throw PgError.

#include <span>
#include <vector>

#include "common/time.h"
#include "server/store/archive_part.h"

namespace hai {

// False if another session archives; held until the session ends.
bool lock_archive(PgSession& session);

// The last event before the first one that is not older; 0 if that is the first of all.
int64_t last_event_before(PgSession& session, UnixTime time, int64_t last_seq);
int64_t jobs_ended_in(PgSession& session, int64_t first_seq, int64_t last_seq);

// Durable when it returns.
void record_files(PgSession& session, const std::vector<ArchivedFile>& files);
// Of parts that end at this event or later.
std::vector<ArchivedFile> recorded_since(PgSession& session, int64_t seq);

// Not durable at once: a delete that is lost is done again by the next run.
void delete_jobs(PgSession& session, std::span<const JobId> ids);
void delete_events(PgSession& session, int64_t first_seq, int64_t last_seq);

}  // namespace hai
