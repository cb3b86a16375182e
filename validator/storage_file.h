#pragma once
// A file that is written, synced and read back, past the kernel's cache where the file system can.
// It has no name after open(), so that nothing stays behind however the program ends.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "agent/os/files.h"
#include "common/status.h"

namespace hai::validator {

inline constexpr int64_t kStorageBlockBytes = 4 << 20;

class StorageFile {
 public:
  static Result<StorageFile> create(const std::string& directory);

  bool is_direct() const { return is_direct_; }
  Status write_block(int64_t block);
  Status sync();
  // data_loss if it is not what was written, with the place of the first wrong byte.
  Status check_block(int64_t block);
  double take_io_seconds();  // spent in the kernel since the last call
  void forget_cached();      // so that reading means the device, where the kernel is asked at all

 private:
  struct Free {
    void operator()(void* memory) const { ::free(memory); }
  };
  StorageFile(UniqueFd fd, bool is_direct, uint64_t seed, void* buffer)
      : fd_(std::move(fd)), is_direct_(is_direct), seed_(seed), buffer_(buffer) {}
  void fill(int64_t block, uint64_t* words) const;
  Status stop_direct();

  UniqueFd fd_;
  bool is_direct_ = false;
  double io_seconds_ = 0;
  uint64_t seed_ = 0;  // another for each file, so that old blocks of the disk don't pass
  std::unique_ptr<void, Free> buffer_;
};

}  // namespace hai::validator
