#pragma once
// A line of the log as fields of systemd's journal, by which `journalctl HAI_JOB=7` finds it, in
// the journal's own protocol: by libsystemd each shim, and so each rank, would begin by loading
// that.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/log.h"

namespace hai {

// Of each value of a line; the rest is cut off.
inline constexpr size_t kLogValueBytesMax = 4096;
inline constexpr const char* kJournalSocket = "/run/systemd/journal/socket";

// MESSAGE is the line, HAI_EVENT its event, HAI_KEY the value of each key. What is said of a rank
// is also HAI_JOB, the job's. `priority`: of syslog(3).
std::string journal_entry(int priority, std::string_view event, LogFields fields);

// What became of something that was written for the journal.
enum class Taken {
  yes,
  dropped,  // the journal reads nothing now: whoever waited for it would hang with it
  no,       // it is not there, or does not take this
};

// How many lines were dropped since somebody was told. Any thread.
class DroppedLines {
 public:
  void add(uint64_t lines = 1) { lines_ += lines; }
  // None are left.
  uint64_t take() { return lines_.exchange(0); }

 private:
  std::atomic<uint64_t> lines_ = 0;
};

// The line that tells of them.
inline constexpr const char* kLinesDropped = "log_lines_dropped";

// Where entries go; stays open until the process ends. Never waits for the journal: what that does
// not take at once is dropped, and told of before the next entry that it takes. Any thread.
class JournalSocket {
 public:
  explicit JournalSocket(DroppedLines& dropped, const char* path = kJournalSocket);
  ~JournalSocket();
  JournalSocket(const JournalSocket&) = delete;
  JournalSocket& operator=(const JournalSocket&) = delete;

  bool is_there() const;
  Taken send(const std::string& entry) const;

 private:
  Taken try_send(const std::string& entry) const;

  DroppedLines& dropped_;
  const std::string path_;
  int socket_ = -1;
};

// Lines to the journal's stream, which is some process's stderr, in the same manner. A line of
// which it has taken a part is finished before the next. The caller sees to it that only one
// thread is in here.
class JournalStream {
 public:
  JournalStream(DroppedLines& dropped, int stream) : dropped_(dropped), stream_(stream) {}

  // With its end of line.
  Taken send(std::string_view line);

 private:
  // What is left of it; the stream takes no more now, or is broken.
  std::string_view write(std::string_view text);

  DroppedLines& dropped_;
  const int stream_;
  std::string rest_;  // of a line that is written in part
};

}  // namespace hai
