#pragma once
// A Unix socket that takes commands: each line of a connection is answered by one line. Whoever may
// open its file (mode 0600) may command. Loop thread only.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/status.h"

namespace boost::asio {
class io_context;
}

namespace hai {

class ControlSocket {
 public:
  using Execute = std::function<std::string(std::string_view line)>;

  // A socket that an ended process left is replaced; one that answers is failed_precondition.
  static Result<std::unique_ptr<ControlSocket>> open(boost::asio::io_context& context,
                                                     const std::string& path, Execute execute);
  ~ControlSocket();  // and the file is gone
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

 private:
  struct Impl;
  explicit ControlSocket(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace hai
