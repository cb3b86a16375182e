#pragma once
// The agent's connection to the shim of one rank. Connects until it succeeds or the shim is dead,
// and reconnects; the shim's lock tells the two apart. A shim that lives but says nothing for a
// minute is killed: nobody could rule its rank.

#include <functional>
#include <memory>
#include <string>

#include "agent/os/rank_directory.h"
#include "common/agent_messages.h"

namespace boost::asio {
class io_context;
}

namespace hai {

struct ShimListener {
  std::function<void()> connected;  // say again what shall be: earlier lines may be lost
  std::function<void(const RankStatus&)> status;  // on connecting, and at each change
  std::function<void()> gone;  // the shim is dead; its last status may be on disk. Called once
};

class ShimLink {
 public:
  // Callbacks come from the io_context, never from inside a call here.
  ShimLink(boost::asio::io_context& context, RankDirectory directory, std::string socket_path,
           ShimListener listener);
  ~ShimLink();  // closes; no callback afterwards
  ShimLink(const ShimLink&) = delete;
  ShimLink& operator=(const ShimLink&) = delete;

  // Without the newline. Dropped while not connected.
  void send(std::string line);

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace hai
