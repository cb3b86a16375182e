#pragma once
// A whole server without its ports, on the fuzzer's own thread: one node, one running job, and the
// users root (an administrator), ann and nobody.

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "common/asio_loop.h"
#include "server/serving.h"
#include "server/store/mem_store.h"

namespace hai::fuzz {

class PortlessServer {
 public:
  static constexpr const char* kAdmin = "root";
  static constexpr const char* kAdminToken = "hai_admin_token_of_fuzzers";
  static constexpr const char* kUser = "ann";
  static constexpr const char* kUserToken = "hai_user_token_of_fuzzers";

  PortlessServer();
  PortlessServer(const PortlessServer&) = delete;
  PortlessServer& operator=(const PortlessServer&) = delete;

  Serving& serving() { return *serving_; }
  boost::asio::io_context& context() { return loop_.io_context(); }
  // Runs what is due, again and again, until it is true; false after so long.
  bool run_until(const std::function<bool()>& is_true, Duration longest);
  // Leads, and all that must hold of its state holds; else the process ends.
  void judge();

  // One for many inputs; a new one now and then, since a store in memory keeps all events.
  static PortlessServer& shared();

 private:
  void command(Command command);
  void set_up();

  AsioLoop loop_;
  MemDatabase database_{loop_};
  MemStore store_{loop_, database_, "fuzz"};
  std::unique_ptr<Serving> serving_;
};

}  // namespace hai::fuzz
