#pragma once
// A browser's end of a way into a rank: a WebSocket. Bytes of the terminal are binary messages, all
// else is JSON in text messages (schemas/openapi.yaml):
//   from the client: {"open":{"rank","argv","rows","columns","term","csrf"}} first, then
//                    {"size":{"rows","columns"}}, {"input_end":true}, {"shown":BYTES}
//   to the client:   {"started":{"node","job"}}, {"end":{"exit_code"}},
//   {"error":{"code","message"}}
// A browser takes whatever comes, so it says how much of the output it has shown, and is sent no
// more than kWindow beyond that. That has to be heard while what was typed waits for a program that
// does not read: so it is read ahead, up to kAheadMax, and one who types more than that loses his
// shell.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/loop.h"
#include "server/api/shell_peer.h"
#include "server/control/command.h"
#include "server/http/http_socket.h"

namespace hai {

class WebShell final : public ShellPeer, public std::enable_shared_from_this<WebShell> {
 public:
  static constexpr size_t kWindow = 512 << 10;
  static constexpr size_t kAheadMax = 1 << 20;
  static constexpr size_t kMessageCost = 256;    // bytes of memory that any message takes
  static constexpr Duration kDrainTimeout = 2s;  // for the last words and the goodbye

  struct Opening {
    std::string job;   // id or name
    std::string csrf;  // that must come with the first message; "" = none must
    // Told why somebody was not let in who has opened a connection; on the loop's thread.
    std::function<void(const Status&)> refused;
  };

  WebShell(Loop& loop, std::shared_ptr<HttpSocket> socket, Opening opening)
      : loop_(loop), socket_(std::move(socket)), opening_(std::move(opening)) {}

  // On the loop's thread, once.
  void begin(const std::function<Events(std::shared_ptr<ShellPeer>)>& opened) {
    events_ = opened(shared_from_this());
    read_ahead();
  }

  void read_next() override {
    is_wanted_ = true;
    deliver();
  }
  void send(v1::ShellMessage message, std::function<void()> written) override;
  void finish(const Status& status) override;

 private:
  // What a message of the client says.
  struct Heard {
    std::optional<v1::ShellMessage> message;  // for the other side of it
    size_t cost = 0;                          // bytes of memory
    size_t shown = 0;
  };
  // On the HTTP server's thread, one after the other.
  Result<Heard> hear(SocketMessage& message);
  Result<v1::ShellMessage> hear_opening(const SocketMessage& message) const;

  void read_ahead();
  void was_read(std::optional<Result<Heard>> heard);
  void deliver();
  void write(SocketMessage message);
  void was_written(bool is_written);
  void go_on();
  void give_up(const Status& why);
  void other_side_ended();
  void end_events();

  struct Ahead {
    v1::ShellMessage message;
    size_t cost;
  };

  Loop& loop_;
  const std::shared_ptr<HttpSocket> socket_;
  const Opening opening_;
  bool is_opened_ = false;  // of the HTTP server's thread
  Events events_;
  bool is_finished_ = false;
  bool has_ended_ = false;
  // What comes.
  bool is_wanted_ = false;  // the next message is asked for
  std::deque<Ahead> ahead_;
  size_t ahead_cost_ = 0;
  // What goes.
  bool is_writing_ = false;
  std::function<void()> written_;
  size_t not_shown_ = 0;               // bytes that were sent
  std::optional<SocketMessage> last_;  // to be written before the end
};

}  // namespace hai
