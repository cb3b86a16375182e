#pragma once
// Small files: read whole, replace atomically.

#include <sys/types.h>

#include <string>

#include "common/status.h"

namespace hai {

// "No such file or directory" for ENOENT, and so on.
std::string errno_text(int error);

// not_found if there is none; resource_exhausted if it is longer than max_bytes.
Result<std::string> read_file(const std::string& path, size_t max_bytes);

enum class Durability { survives_crash_of_program, survives_crash_of_machine };

// Readers see the old content or the new one, never a part.
Status write_file_atomic(const std::string& path, std::string_view content, mode_t mode,
                         Durability durability);

// A descriptor that closes itself.
class UniqueFd {
 public:
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd() { reset(); }
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

// Takes the exclusive lock of a file (created if need be) without waiting; failed_precondition if
// another process has it. The lock belongs to the descriptor and whoever inherits it, and ends when
// the last of them is gone.
Result<UniqueFd> lock_file(const std::string& path);

}  // namespace hai
