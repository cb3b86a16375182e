#pragma once
// Carries log requests of users to the agent of the node and the answers back. On the loop's
// thread. Bounded: so many requests may be under way, and each is answered in time or fails.

#include <functional>
#include <map>
#include <string>

#include "common/log_messages.h"
#include "common/loop.h"
#include "common/status.h"

namespace hai {

class StoredLogs;

class LogPort {
 public:
  virtual ~LogPort() = default;
  // The connection that took it; none if the node has no connection.
  virtual ConnectionId send_log_request(const std::string& node, int64_t request_id,
                                        const LogRequest& request) = 0;
};

class LogRouter {
 public:
  static constexpr size_t kPendingMax = 2'000;
  static constexpr Duration kAnswerTimeout = 5s;  // beyond what the request itself waits
  using Done = std::function<void(Result<LogChunk>)>;

  // `stored`: where logs are whose node cannot give them; null = nowhere.
  LogRouter(Loop& loop, LogPort& port, StoredLogs* stored = nullptr)
      : loop_(loop), port_(port), stored_(stored) {}
  ~LogRouter();
  LogRouter(const LogRouter&) = delete;
  LogRouter& operator=(const LogRouter&) = delete;

  // `done` is called exactly once, never from inside this call, unless the router goes first.
  void read(const std::string& node, const LogRequest& request, Done done);

  // From the agents' streams; unknown ids are late answers and ignored.
  void answered(ConnectionId connection, int64_t request_id, const LogChunk& chunk);
  void disconnected(ConnectionId connection);
  int64_t bytes() const { return bytes_; }  // of logs, ever
  StoredLogs* stored() const { return stored_; }

 private:
  struct Pending {
    ConnectionId connection;
    std::string node;
    Done done;
    TimerId timer = 0;
  };
  void finish(int64_t id, Result<LogChunk> result);

  Loop& loop_;
  LogPort& port_;
  StoredLogs* const stored_;
  std::map<int64_t, Pending> pending_;
  int64_t last_id_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace hai
