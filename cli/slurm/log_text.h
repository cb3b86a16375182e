#pragma once
// A job's log as its program wrote it: without the time that hai puts before each line.

#include <functional>
#include <string>
#include <string_view>

namespace hai::cli::slurm {

class LogText {
 public:
  explicit LogText(std::function<void(std::string_view)> write) : write_(std::move(write)) {}
  // Any piece of the log, cut anywhere.
  void add(std::string_view bytes);

 private:
  const std::function<void(std::string_view)> write_;
  bool in_time_ = true;  // at the start of a line
};

}  // namespace hai::cli::slurm
