#pragma once
// A line of the log as fields of systemd's journal, by which `journalctl HAI_JOB=7` finds it, in
// the journal's own protocol: by libsystemd each shim, and so each rank, would begin by loading
// that.

#include <cstddef>
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

// Where entries go; stays open until the process ends. Any thread.
class JournalSocket {
 public:
  explicit JournalSocket(const char* path = kJournalSocket);
  ~JournalSocket();
  JournalSocket(const JournalSocket&) = delete;
  JournalSocket& operator=(const JournalSocket&) = delete;

  bool is_there() const;
  // False if the journal has not got it.
  bool send(const std::string& entry) const;

 private:
  const std::string path_;
  int socket_ = -1;
};

}  // namespace hai
