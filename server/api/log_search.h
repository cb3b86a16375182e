#pragma once
// Looks for a text in the logs of a job: of all its ranks and attempts, newest attempt first. One
// call reads a part of them and says where the next one goes on, so that a search of terabytes is
// many short calls: it can be left at any time, survives a server, and nobody waits long behind it.
// Each user has one call under way; those of different users take turns. On the loop's thread; what
// is read is looked at on another one.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/log_store/side_thread.h"
#include "common/loop_scope.h"
#include "server/api/log_router.h"
#include "server/api/queries.h"

namespace hai {

struct LogSearchRequest {
  std::string job;  // id or name
  std::string text;
  bool match_case = false;
  std::optional<int> rank = {};     // none = all
  std::optional<int> attempt = {};  // none = all; 0 = the latest
  std::optional<UnixTime> since = {};
  std::optional<UnixTime> until = {};
  int limit = kPageDefault;  // of lines
  std::string cursor;        // of the page before
};

struct FoundLine {
  int attempt = 0;
  int rank = 0;
  int64_t offset = 0;
  std::optional<UnixTime> at;
  std::string text;
};
struct UnreadLog {
  int attempt = 0;
  int rank = 0;
  std::string reason;
};
struct LogSearchPage {
  std::vector<FoundLine> lines;
  std::vector<UnreadLog> unread;
  int64_t bytes = 0;
  int64_t logs_done = 0;
  int64_t logs = 0;
  std::string next_cursor;  // "" = all was looked through
};

class LogSearch;

class LogSearches {
 public:
  static constexpr size_t kTextBytesMax = 200;
  static constexpr size_t kRunningMax = 4;
  static constexpr size_t kWaitingMax = 8;  // of one user
  // Of one call: it ends with what there is.
  static constexpr int64_t kBytesMax = 64 << 20;
  static constexpr Duration kTimeMax = 1s;
  static constexpr Duration kSeekTimeMax = 5s;  // of one log: then it is left out, with the reason
  static constexpr size_t kUnreadMax = 100;

  LogSearches(Loop& loop, Queries& queries, LogRouter& router);
  ~LogSearches();
  LogSearches(const LogSearches&) = delete;
  LogSearches& operator=(const LogSearches&) = delete;

  // `done` is called once, later, unless this goes first.
  void search(const Caller& caller, LogSearchRequest request, Done<LogSearchPage> done);

 private:
  struct Asked {
    Caller caller;
    LogSearchRequest request;
    Done<LogSearchPage> done;
  };
  void take(const std::string& user, Asked asked);
  void start_some();
  void start(const std::string& user, Asked asked);
  void finished(const std::string& user, const Done<LogSearchPage>& done,
                Result<LogSearchPage> page);

  Loop& loop_;
  Queries& queries_;
  LogRouter& router_;
  std::map<std::string, std::deque<Asked>> waiting_;
  std::deque<std::string> turns_;                              // users who wait, the next one first
  std::map<std::string, std::shared_ptr<LogSearch>> running_;  // by user
  LoopScope scope_;
  SideThread scanner_;  // last: what it answers uses all above
};

}  // namespace hai
