#pragma once
// A file descriptor that closes itself, and the text of an errno.

#include <string>

namespace hai {

// "No such file or directory" for ENOENT, and so on.
std::string errno_text(int error);

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

}  // namespace hai
