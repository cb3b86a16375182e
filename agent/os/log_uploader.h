#pragma once
// Sees to it that the logs of this node's ranks get to the log store: says what has to go and how
// fast, and tells how it goes. Loop thread only, but for the thread that it has for the storage: a
// store that is away, full or hangs costs ranks and agent nothing.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "agent/os/log_upload.h"
#include "common/log_store/side_thread.h"
#include "common/loop.h"
#include "common/loop_scope.h"

namespace hai {

// How the log store is doing, for the check of the node's health. Any thread.
class LogStoreBoard {
 public:
  void set(Status status);
  Status get() const;

 private:
  mutable std::mutex mutex_;
  Status status_;
};

class LogUploader {
 public:
  struct Options {
    LogUploadOptions upload;
    int64_t rate_bytes = 16 << 20;  // of text a second
    std::function<bool(const RankKey&)> is_live;
  };

  // internal if the ranks to be uploaded cannot be noted.
  static Result<std::unique_ptr<LogUploader>> open(Loop& loop, Options options);

  // A rank is about to start.
  void begin(const RankKey& key, const std::string& user);
  // After the ranks of the agent before this one are adopted: until then none seems to live.
  void start();
  std::shared_ptr<const LogStoreBoard> board() const { return board_; }

 private:
  LogUploader(Loop& loop, Options options);
  void look();
  void passed(UploadResult result);
  void tell(Status status);

  Loop& loop_;
  const Options options_;
  const std::shared_ptr<LogUpload> upload_;  // the thread's
  const std::shared_ptr<LogStoreBoard> board_;
  std::map<RankKey, std::string> users_;  // of the ranks whose logs are not whole in the store
  Status told_;                           // last
  bool is_busy_ = false;
  MonoTime busy_since_{};
  MonoTime next_pass_{};
  MonoTime last_pass_{};
  LoopScope scope_;
  LoopTimer timer_;
  SideThread thread_;  // last: what it answers uses all above
};

}  // namespace hai
