#include "server/store/export.h"

#include <unistd.h>

#include "server/store/event_line.h"
#include "server/store/line_file.h"
#include "server/store/pg_event_log.h"

namespace hai {
namespace {

Result<ExportResult> range_asked(PgSession& session, const ExportOptions& options) {
  const EventRange there = event_range(session);
  const int64_t first = options.from.value_or(there.first);
  const int64_t last = options.to.value_or(there.last);
  if (there.last == 0) return not_found("the event log is empty");
  if (first < there.first || last > there.last || first > last) {
    return not_found("events {} to {}: the log has {} to {}", first, last, there.first, there.last);
  }
  return ExportResult{.first_seq = first, .last_seq = last};
}

Status write_events(PgSession& session, const ExportOptions& options, LineWriter& writer,
                    ExportResult& result) try {
  PgEventLog log(session, result.first_seq - 1, result.last_seq);
  const int64_t total = result.last_seq - result.first_seq + 1;
  while (true) {
    Result<std::vector<Event>> page = log.next_page();
    if (!page.is_ok()) return page.status();
    if (page.value().empty()) break;
    for (const Event& event : page.value()) RETURN_IF_ERROR(writer.write(event_line(event)));
    result.events += std::ssize(page.value());
    if (options.progress) options.progress(result.events, total);
  }
  if (result.events == total) return writer.finish();
  return Status(Code::data_loss, fmt::format("events {} to {}: only {} are there", result.first_seq,
                                             result.last_seq, result.events));
} catch (const PgError& error) {
  return unavailable("postgres: {}", error.what());
}

}  // namespace

Result<ExportResult> export_events(const std::string& conninfo, const ExportOptions& options) {
  PgSession session({.conninfo = conninfo, .statement_timeout = 1min});
  try {
    Result<ExportResult> result = range_asked(session, options);
    if (!result.is_ok()) return result;
    auto writer = LineWriter::create(options.path);
    if (!writer.is_ok()) return writer.status();
    Status status = write_events(session, options, *writer.value(), result.value());
    if (status.is_ok()) return result;
    ::unlink(options.path.c_str());
    return status;
  } catch (const PgError& error) {
    return unavailable("postgres: {}", error.what());
  }
}

}  // namespace hai
