#pragma once
// What srun shows of its tasks: their output, with the task's number before each line if asked, and
// in files if asked.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cli/slurm/step/fd.h"
#include "common/status.h"

namespace hai::cli::slurm {

// All of it, however many writes that takes; errors are ignored: there is nobody left to tell.
void write_all(int fd, std::string_view bytes);

struct PatternValues {
  std::string job, name, user, node;
  std::string array_job, array_task;  // of a task of an array
  int node_index = 0;
  int task = 0;
  uint32_t step = 0;
};
// %j %A %a %x %u %N %n %t %s %% and widths (%4t); unknown letters stay as they are.
std::string expand_pattern(std::string_view pattern, const PatternValues& values);

class OutputWriter {
 public:
  struct Options {
    bool label = false;
    std::string output;  // patterns; "" = this program's own
    std::string error;
    bool append = false;
    PatternValues values;
  };
  explicit OutputWriter(Options options) : options_(std::move(options)) {}
  ~OutputWriter();

  void write(uint32_t task, bool is_error, std::string_view bytes);
  // Of a task that has ended: a last line without an end.
  void finish(uint32_t task);

 private:
  int fd_of(uint32_t task, bool is_error);

  Options options_;
  std::map<std::pair<uint32_t, bool>, std::string> open_lines_;
  std::map<std::string, Fd> files_;
};

}  // namespace hai::cli::slurm
