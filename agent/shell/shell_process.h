#pragma once
// A program that somebody runs in a rank: hai-shim makes it one of the rank's (agent/shim/
// shell_entry.h); here are its terminal or pipes. On the loop's thread. What it writes is read one
// piece at a time: the next of a stream after go_on().

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/shell_messages.h"
#include "common/status.h"

namespace hai {

class ShellProcess {
 public:
  enum class Stream { output, error };
  struct Events {
    std::function<void()> started;
    std::function<void(Stream, std::string)> wrote;
    // Last: all that it wrote has been given. The exit code is 128 + the signal that killed it.
    // `error`: why it did not run; "" if it did.
    std::function<void(int exit_code, const std::string& error)> ended;
  };

  // `command`: what is started, which finds `program` at kShellRequestFd (agent/os/shell_file.h).
  // internal or resource_exhausted if there is no process, terminal or pipe to be had.
  static Result<std::unique_ptr<ShellProcess>> start(boost::asio::io_context& context,
                                                     const std::vector<std::string>& command,
                                                     const ShellProgram& program, Events events);
  // Without any further event. The process and its session are hung up, and killed after
  // kHangUpPatience by whoever waits for them then (see abandon()).
  ~ShellProcess();
  ShellProcess(const ShellProcess&) = delete;
  ShellProcess& operator=(const ShellProcess&) = delete;

  void write(std::string data, std::function<void()> written);
  void end_input();
  void resize(const TerminalSize& size);
  void go_on(Stream stream);

 private:
  struct Source;
  struct Impl;
  explicit ShellProcess(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace hai
