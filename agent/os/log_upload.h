#pragma once
// Brings the logs of a node's ranks to the log store, one pass after the other, as much in each as
// it is allowed. Waits for the storage, so it runs on a thread of its own; knows the ranks' files
// and nothing else of the agent.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/log_store/writer.h"
#include "common/time.h"

namespace hai {

struct LogUploadOptions {
  std::string store;     // the folder
  std::string data_dir;  // of the agent
  std::string node;
  Duration every{30s};             // what a running rank has written goes so often
  int64_t rank_bytes = 256 << 20;  // of one rank in the store, compressed; the oldest go
};

// A rank whose log is not whole in the store yet.
struct RankToUpload {
  RankKey key;
  std::string user;
  bool is_live = false;  // it may still write
};

struct UploadResult {
  std::vector<RankKey> done;  // their logs are whole in the store
  int64_t bytes = 0;          // of text that went
  bool is_all = true;         // false: the pass ended at its limit, and there is more
  bool has_looked = false;    // the store was needed, and `status` says how it is
  Status status = ok();       // the first thing that went wrong
};

class LogUpload {
 public:
  explicit LogUpload(LogUploadOptions options) : options_(std::move(options)) {}

  // Sends at most about `bytes_max` bytes of text. `now` is of a clock that only goes forward.
  UploadResult pass(const std::vector<RankToUpload>& ranks, int64_t bytes_max, MonoTime now,
                    UnixTime wall_now);

 private:
  struct Progress {
    std::optional<StoredLogWriter> writer;  // none = where the store stands is not known
    MonoTime next_at{};
  };
  bool is_on_disk(const RankToUpload& rank) const;
  // Whether all is there that the rank has written by now.
  Result<bool> upload(const LogStore& store, const RankToUpload& rank, Progress& progress,
                      int64_t& bytes_left);
  Result<bool> upload_files(const LogStore& store, const RankKey& key, StoredLogWriter& writer,
                            int64_t& bytes_left);

  const LogUploadOptions options_;
  std::map<RankKey, Progress> progress_;
  MonoTime next_probe_{};  // a store that nobody needs is looked at now and then, too
  RankKey first_;          // with whom the next pass begins, so that each gets its turn
};

}  // namespace hai
