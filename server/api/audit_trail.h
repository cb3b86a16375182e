#pragma once
// Takes what is to be written into the audit log from whoever ends a call, on any thread, and hands
// it to the log in batches. Nobody waits for it: a call is answered before its entry is written.
//
// What can come in floods is merged: the first of its kind is an entry at once, those that follow
// are counted, and at the end of the window one more entry tells the latest of them and how many
// others it stands for. So a stranger fills no disk, and submits cost no more than before. What the
// log does not take fills a bounded queue; what does not fit is counted and said as soon as there
// is room.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/loop.h"
#include "common/status.h"
#include "server/api/audit_facts.h"
#include "server/control/audit_port.h"
#include "server/control/command.h"

namespace hai {

class CallerBoard;

// A call that has ended.
struct AuditedCall {
  Caller caller;
  std::string address;    // "" = not known
  std::string_view name;  // of the rpc; kAgentCall, kShellCall, kUnixGroupsCall and the like
  AuditFacts facts;
};
inline constexpr std::string_view kAgentCall = "agent";
inline constexpr std::string_view kShellCall = "Shell";  // of a service of its own (rpc/shells.h)
inline constexpr std::string_view kUnixGroupsCall = "unix_groups";  // the server itself
// What a sign-in has made of an account, as the identity provider has it: the server itself.
inline constexpr std::string_view kAccountOfSignInCall = "sign_in";
inline constexpr std::string_view kUnknownCall = "unknown";  // of gRPC, and no call of ours

// What a call of gRPC by this path ("/hai.v1.Api/GetJob") is in the log: whoever is refused may
// have made it up.
std::string_view audited_name(std::string_view method);

class AuditTrail {
 public:
  static constexpr size_t kQueueMax = 10'000;  // entries that are not written yet
  static constexpr size_t kBatchMax = 500;
  static constexpr size_t kStrangersMax = 1'000;  // pairs of machine and result; the others are "*"
  static constexpr size_t kWindowsMax =
      20'000;  // strangers' and others'; what is beyond is one, of "*"
  static constexpr size_t kReadsMax = 10'000;    // windows of reads, so that others find place
  static constexpr size_t kReadsOfOneMax = 500;  // of these of a user; his others are one a call
  static constexpr int kRefusalsPerMinute = 60;  // of a user and call, one by one
  static constexpr size_t kDetailBytesMax = 200;
  static constexpr Duration kWindow = 60s;
  static constexpr Duration kSubmitWindow = 1s;
  static constexpr Duration kRetry = 1s;

  // `log` may be null: then nothing is kept. All outlive this; `wall_clock` is asked on any thread.
  AuditTrail(Loop& loop, const CallerBoard& callers, AuditLog* log,
             std::function<UnixTime()> wall_clock = nullptr);
  ~AuditTrail();

  // Whether note() would keep it, before anything is made for it.
  bool wants(std::string_view call, Code result) const;

  // Any thread. `status` is how the call ended; of many things at once `facts` has how each did.
  void note(const AuditedCall& call, const Status& status);

  // On the loop: what was counted becomes entries, then `done` when all is written, or when the log
  // does not take it.
  void stop(std::function<void()> done);

  int64_t lost() const;  // so far

 private:
  // Of one kind of entry: how many of it may come one by one, and how long those after are counted.
  struct Rule {
    std::string key;  // "" = each is an entry
    int one_by_one = 1;
    Duration length = kWindow;
    std::string reader = {};  // whose share of the windows it takes; "" = nobody's
  };
  struct Window {
    int told = 0;      // one by one
    int64_t more = 0;  // since
    AuditEntry latest;
    int64_t first_job = 0;
    int64_t last_job = 0;
    Duration length{0};
    UnixTime end{};
    std::string reader;  // of its rule
  };

  void take(const AuditedCall& call, const AuditOutcome& outcome);
  // With the mutex.
  Rule rule_of(AuditEntry& entry, bool is_stranger, bool is_submit);
  Rule rule_of_read(AuditEntry& entry) const;
  void merge(const Rule& rule, AuditEntry entry, const std::optional<int64_t>& job);
  void count_window(const std::string& key, const Window& window);
  void discount_window(const std::string& key, const Window& window);
  void push(AuditEntry entry);
  void close_windows(bool all);
  static AuditEntry sum_of(Window& window);
  void wake();

  // On the loop.
  void look();
  void write();
  void append(std::vector<AuditEntry> batch);
  void written(const Status& status);
  void not_written(const Status& status);
  void give_up(const Status& why);

  Loop& loop_;
  const CallerBoard& callers_;
  AuditLog* const log_;
  const std::function<UnixTime()> wall_clock_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // loop's thread only
  TimerId timer_ = 0;                                           // loop's thread only
  bool is_away_ = false;                                        // the log; loop's thread only
  std::function<void()> stopped_;                               // loop's thread only

  mutable std::mutex mutex_;
  bool is_awake_ = false;  // look() is on its way
  bool is_timed_ = false;  // it comes again by itself
  std::map<std::string, Window> windows_;
  size_t strangers_ = 0;                    // of the windows
  size_t reads_ = 0;                        // of the windows
  std::map<std::string, size_t> reads_of_;  // of these, by user
  std::deque<AuditEntry> queue_;
  std::vector<AuditEntry> in_flight_;
  int64_t lost_ = 0;  // so far
  int64_t lost_told_ = 0;
};

}  // namespace hai
