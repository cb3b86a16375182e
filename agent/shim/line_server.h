#pragma once
// A Unix socket that speaks lines: each line gets one answer line. Can also push the newest version
// of one line to all who are connected. Junk, too long lines and too many connections are refused
// without harm. Runs on the io_context's one thread.

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/status.h"

namespace boost::asio {
class io_context;
}

namespace hai {

struct LineServerLimits {
  size_t line_bytes_max = 512 << 10;
  int connections_max = 256;
};

class LineServer {
 public:
  // Without the newline, in and out; an empty answer is not sent.
  using Answer = std::function<std::string(std::string_view line)>;

  LineServer(boost::asio::io_context& context, LineServerLimits limits, Answer answer);
  ~LineServer();
  LineServer(const LineServer&) = delete;
  LineServer& operator=(const LineServer&) = delete;

  // Only this user (and root) may connect.
  Status listen(const std::string& path, uid_t owner, gid_t group);
  // Takes over a socket that listens already, made by who started us.
  Status listen(int fd, const std::string& path);

  // From now on sent to each new connection, and at once to all that are there. Who reads slowly
  // skips versions.
  void push(std::string line);

  // Takes no more lines; calls `done` once, when everything has been written or nobody reads it.
  void finish(std::function<void()> done);

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace hai
