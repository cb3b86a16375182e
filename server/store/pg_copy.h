#pragma once
// The rows of one query in PostgreSQL's binary form: neither side turns numbers and times into text
// and back, which is most of the work of reading a hundred thousand jobs. Has a connection of its
// own, which sees what the snapshot sees. Belongs to one thread. Hides libpq.

#include <memory>
#include <string>

#include "server/store/pg_session.h"

namespace hai {

class PgCopy {
 public:
  // `snapshot` is what pg_export_snapshot() gave. Throws PgError, as all of it.
  PgCopy(const PgOptions& options, const std::string& snapshot, const std::string& select);
  ~PgCopy();
  PgCopy(const PgCopy&) = delete;
  PgCopy& operator=(const PgCopy&) = delete;

  // Whole rows of about so many bytes, for PgBinaryCells; "" when there are no more.
  std::string read(size_t bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hai
