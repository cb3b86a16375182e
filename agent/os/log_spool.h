#pragma once
// Writes the log of one rank: every line of its processes' output with the time in front, in files
// named by the offset of their first byte in the whole stream. Bounded: the oldest file goes when
// the total grows too large. A full disk costs log lines, never the program: what cannot be written
// is counted and said in the log when there is room again.

#include <string>
#include <string_view>
#include <vector>

#include "agent/os/files.h"
#include "agent/os/launch_file.h"
#include "common/log_part.h"
#include "common/time.h"

namespace hai {

class LogSpool {
 public:
  // Continues at the end of what the directory holds already.
  static Result<LogSpool> open(const std::string& directory, LogLimits limits);

  // One source per pipe, so that lines of different processes don't mix.
  class Source {
   private:
    friend class LogSpool;
    std::string partial_;
  };
  void append(Source& source, std::string_view bytes, UnixTime now);
  // The source ended: writes its last line even if unfinished.
  void finish(Source& source, UnixTime now);

  int64_t end_offset() const { return end_; }

 private:
  LogSpool(std::string directory, LogLimits limits);
  void add_line(std::string_view line);
  void write_pending();
  Status open_next_file();
  void drop_oldest();

  std::string directory_;
  LogLimits limits_;
  UniqueFd file_;
  std::vector<int64_t> starts_;  // of all files, ascending; the last one is being written
  int64_t end_ = 0;
  int64_t lost_bytes_ = 0;
  std::string pending_;  // of the current call
  std::string prefix_;   // the time as text, made once per call
};

// "0000000000004096.log"
std::string log_file_name(int64_t start);
// Starts of the log files in a directory, ascending; empty if there is none.
std::vector<int64_t> list_log_files(const std::string& directory);

}  // namespace hai
