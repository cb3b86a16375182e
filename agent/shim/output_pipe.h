#pragma once
// Carries what one process prints into the log spool.

#include <functional>
#include <memory>

#include "agent/os/files.h"
#include "agent/os/log_spool.h"

namespace boost::asio {
class io_context;
}

namespace hai {

class OutputPipe {
 public:
  // `arrived` is called after each piece of output.
  OutputPipe(boost::asio::io_context& context, UniqueFd reader, LogSpool& spool,
             std::function<void()> arrived);
  ~OutputPipe();
  OutputPipe(OutputPipe&&) noexcept;

  // Nobody writes any more: takes what is left, the unfinished last line too.
  void drain();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hai
