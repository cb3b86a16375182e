#pragma once
// Events of the database into a file, one a line (event_line.h). Page by page, beside the server.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/status.h"

namespace hai {

struct ExportOptions {
  std::optional<int64_t> from;  // none = the first there is
  std::optional<int64_t> to;    // none = the last there is
  std::string path;             // must not exist; .gz = compressed
  std::function<void(int64_t done, int64_t total)> progress;
};

struct ExportResult {
  int64_t events = 0;
  int64_t first_seq = 0;
  int64_t last_seq = 0;
};

// `not_found` if the events asked for are not there; then there is no file either.
Result<ExportResult> export_events(const std::string& conninfo, const ExportOptions& options);

}  // namespace hai
