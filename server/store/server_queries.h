#pragma once
// The table server: where the servers of this database are reached. Run on PgHistory's thread.

#include <string>
#include <vector>

#include "common/time.h"
#include "server/store/pg_session.h"

namespace hai {

// See ServerStore::note().
std::vector<std::string> note_server(PgSession& session, const std::string& own, Duration keep);

}  // namespace hai
