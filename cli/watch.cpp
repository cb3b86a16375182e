#include "cli/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "cli/client.h"
#include "cli/output.h"
#include "cli/patience.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

constexpr auto kShortestPause = std::chrono::milliseconds(250);
constexpr auto kLongestWithoutEvent = std::chrono::seconds(5);  // run times grow without any event

// Set by the thread that reads events, taken by the one that renders.
class Dirty {
 public:
  void set(Status status = ok()) {
    const std::lock_guard lock(mutex_);
    dirty_ = true;
    if (!status.is_ok()) status_ = std::move(status);
    changed_.notify_one();
  }
  Status wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLongestWithoutEvent, [this] { return dirty_; });
    dirty_ = false;
    return status_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool dirty_ = false;
  Status status_;
};

void read_events(Client& client, v1::WatchEventsRequest request, Dirty& dirty) {
  Patience patience;
  request.set_after_seq(-1);
  for (;;) {
    const Status status = client.watch_events(request, [&](const v1::Event& event) {
      patience.heard();
      request.set_after_seq(event.seq());
      dirty.set();
      return true;
    });
    if (!patience.retry(status)) {
      dirty.set(status.is_ok() ? unavailable("the server ended the watch") : status);
      return;
    }
    dirty.set();  // something may have happened in between
  }
}

}  // namespace

std::string in_place(std::string_view text, int height) {
  std::string out = "\033[H";
  const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  // The cursor stands below the last line, so one line stays free.
  const size_t room = static_cast<size_t>(std::max(height, 3)) - 1;
  const size_t shown = lines > room ? room - 1 : lines;
  for (size_t i = 0; i < shown; ++i) {
    const size_t end = text.find('\n');
    out += "\033[2K";
    out += text.substr(0, end);
    out += '\n';
    text.remove_prefix(end + 1);
  }
  if (shown < lines) out += fmt::format("\033[2K… and {} more lines\n", lines - shown);
  return out + "\033[J";
}

void show_in_place(const Session& session, const std::string& text) {
  const Terminal& terminal = session.terminal;
  print(terminal.is_tty && terminal.moves_cursor ? in_place(text, terminal.height) : text);
}

Status watch(Session& session, Client& client, const v1::WatchEventsRequest& filter,
             const std::function<Result<std::string>()>& render) {
  // The reader stands in a call that only the server or the end of the program ends, so it is never
  // joined and shares what it needs.
  const auto dirty = std::make_shared<Dirty>();
  std::thread([events = std::shared_ptr<Client>(client.clone()), filter, dirty] {
    read_events(*events, filter, *dirty);
  }).detach();
  Patience patience;
  std::string shown;
  for (;;) {
    session.terminal = stdout_terminal();  // it may have been resized
    const Result<std::string> text = render();
    if (text.is_ok()) {
      patience.heard();
      // Nothing new needs no line in a file, while a terminal may have been resized.
      if (text.value() != shown) show_in_place(session, text.value());
      shown = text.value();
    } else if (!patience.retry(text.status())) {
      return text.status();
    }
    std::this_thread::sleep_for(kShortestPause);
    RETURN_IF_ERROR(dirty->wait());
  }
}

}  // namespace hai::cli
