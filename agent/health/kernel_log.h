#pragma once
// Reads what is new in the kernel's log: /dev/kmsg, which gives one record per read, or a file of
// such lines or of dmesg's, which may be torn, grow, be cut or be replaced. Owned by one check;
// used on its thread.

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "agent/health/kernel_record.h"
#include "agent/os/files.h"
#include "common/status.h"

namespace hai {

class KernelLog {
 public:
  // read(2), or a stand-in.
  using ReadCall = std::function<ssize_t(int, void*, size_t)>;

  explicit KernelLog(std::string path, ReadCall read_call = {});

  struct News {
    std::vector<KernelRecord> records;
    int64_t overruns = 0;  // times the kernel overwrote records before they were read
    bool is_more = false;  // the bound was reached; ask again
  };
  // At most kRecordsMax. After an error the next call opens anew.
  Result<News> read_new();

  static constexpr size_t kRecordsMax = 5'000;

 private:
  Status open();
  Status read_device(News& news);
  Status read_text_file(News& news);
  bool is_other_file() const;
  void take_lines(News& news);

  std::string path_;
  ReadCall read_call_;
  UniqueFd fd_;
  bool is_device_ = false;
  ino_t inode_ = 0;
  off_t offset_ = 0;
  std::string unfinished_;  // the last line of a file, until its end is written
};

}  // namespace hai
