#include "server/store/event_log.h"

#include "server/store/event_line.h"

namespace hai {

Result<std::vector<Event>> FileEventLog::next_page() {
  std::vector<Event> page;
  page.reserve(kPageEvents);
  while (page.size() < kPageEvents) {
    Result<std::optional<Event>> event = next();
    if (!event.is_ok()) return event.status();
    if (!event.value()) break;
    page.push_back(std::move(*event.value()));
  }
  return page;
}

Result<std::optional<Event>> FileEventLog::next() {
  while (true) {
    if (reader_ == nullptr) {
      if (next_path_ == paths_.size()) return std::optional<Event>();
      auto opened = LineReader::open(paths_[next_path_++]);
      if (!opened.is_ok()) return opened.status();
      reader_ = std::move(opened).value();
    }
    std::string_view line;
    Result<bool> got = reader_->next(line);
    if (!got.is_ok()) return got.status();
    if (!got.value()) {
      reader_.reset();
      continue;
    }
    Result<Event> event = event_from_line(line);
    const auto at = [&] { return fmt::format("{}:{}", reader_->path(), reader_->line_number()); };
    if (!event.is_ok()) return invalid_argument("{}: {}", at(), event.status().message());
    if (last_seq_ && event.value().seq != *last_seq_ + 1) {
      return Status(Code::data_loss, fmt::format("{}: event {} follows event {}", at(),
                                                 event.value().seq, *last_seq_));
    }
    last_seq_ = event.value().seq;
    return std::optional<Event>(std::move(event).value());
  }
}

}  // namespace hai
