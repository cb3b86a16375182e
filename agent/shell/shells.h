#pragma once
// The shells that people have opened in this node's ranks: for each the program and the stream to
// the server that asked. On the loop's thread.

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/os/image_file.h"
#include "common/loop.h"
#include "common/shell_messages.h"
#include "common/status.h"
#include "common/tls/tls_files.h"

namespace hai {

class Shells {
 public:
  static constexpr size_t kMax = 256;
  static constexpr size_t kOfNode = 16;  // of those, for questions about the node's images only
  // Whether ranks and people are still there: where there are no control groups, nobody but us ends
  // the shells of a rank that has ended.
  static constexpr Duration kLook = 1s;

  struct Options {
    std::string data_dir;
    std::string shim_path;
    std::string agent_token;
    ImageSettings images;                   // of this node
    std::vector<std::string> system_users;  // confinement.system_users
    std::function<bool(const RankKey&)> is_live;
  };

  Shells(Loop& loop, boost::asio::io_context& context, Options options);
  ~Shells();  // hangs them up, and waits for gRPC to let go of their streams
  Shells(const Shells&) = delete;
  Shells& operator=(const Shells&) = delete;

  // Never fails here: why there is no shell is said over its stream.
  void open(const std::string& server, const TlsTexts& tls, const ShellRequest& request);

 private:
  class Session;
  void ended(const std::shared_ptr<Session>& session);
  void look_at_all();

  Loop& loop_;
  boost::asio::io_context& context_;
  const Options options_;
  std::set<std::shared_ptr<Session>> sessions_;
  TimerId timer_ = 0;
};

}  // namespace hai
