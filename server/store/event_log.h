#pragma once
// A log of events as one stream, wherever it lies: files in order, each with its events in order,
// or a database (pg_event_log.h). Events follow each other without gaps.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "server/model/event.h"
#include "server/store/line_file.h"

namespace hai {

class EventLog {
 public:
  virtual ~EventLog() = default;
  // Up to a page of the next events; empty at the end.
  virtual Result<std::vector<Event>> next_page() = 0;
};

class FileEventLog final : public EventLog {
 public:
  explicit FileEventLog(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  Result<std::vector<Event>> next_page() override;

 private:
  static constexpr size_t kPageEvents = 2'000;
  Result<std::optional<Event>> next();

  const std::vector<std::string> paths_;
  size_t next_path_ = 0;
  std::unique_ptr<LineReader> reader_;
  std::optional<int64_t> last_seq_;
};

}  // namespace hai
