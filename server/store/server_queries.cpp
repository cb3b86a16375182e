#include "server/store/server_queries.h"

namespace hai {

std::vector<std::string> note_server(PgSession& session, const std::string& own, Duration keep) {
  if (!own.empty()) {
    session.call({"note_server",
                  "INSERT INTO server (grpc, seen_at) VALUES ($1, clock_timestamp())"
                  " ON CONFLICT (grpc) DO UPDATE SET seen_at = excluded.seen_at"},
                 {own});
  }
  session.call({"forget_servers",
                "DELETE FROM server"
                " WHERE seen_at < clock_timestamp() - $1::bigint * interval '1 microsecond'"},
               {std::to_string(keep.count())});
  const PgResult rows =
      session.call({"find_servers", "SELECT grpc FROM server ORDER BY grpc COLLATE \"C\""});
  std::vector<std::string> servers;
  for (int row = 0; row < rows.size(); ++row) servers.emplace_back(rows.text(row, 0));
  return servers;
}

}  // namespace hai
