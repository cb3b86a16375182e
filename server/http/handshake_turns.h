#pragma once
// In which order TLS handshakes go on. A step of one may cost the server's only thread a
// millisecond: so what a client has sent of his waits for its address's turn, and the thread does
// everything else that is ready between two steps. On the server's thread.

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "server/api/fair_order.h"

namespace hai {

class HandshakeTurns {
 public:
  using Step = std::function<void(bool is_given_up)>;
  using Waiting = std::shared_ptr<Step>;  // empty once its turn has come or it was given up
  // Runs something after what is ready by now.
  using Post = std::function<void(std::function<void()>)>;

  explicit HandshakeTurns(Post post) : post_(std::move(post)) {}

  // `machine`: whose turn it takes (machine_of).
  Waiting wait(const std::string& machine, Step step) {
    auto waiting = std::make_shared<Step>(std::move(step));
    order_.push(machine, waiting);
    post_turn();
    return waiting;
  }
  // Its step is told so soon; nothing happens if its turn has come.
  void give_up(const Waiting& waiting) {
    if (!waiting || !*waiting) return;
    post_([step = std::exchange(*waiting, nullptr)] { step(true); });
  }

 private:
  // What a step may cost. It is not measured: a client who sends his in pieces takes more turns.
  static constexpr Duration kStep = 1ms;

  void post_turn() {
    if (is_posted_ || order_.size() == 0) return;
    is_posted_ = true;
    post_([this] {
      is_posted_ = false;
      take_turn();
    });
  }

  void take_turn() {
    while (auto waiting = order_.pop()) {
      const Step step = std::exchange(**waiting, nullptr);
      order_.charge(step ? kStep : Duration{});
      if (!step) continue;
      post_turn();  // first, because a step may throw
      return step(false);
    }
  }

  const Post post_;
  FairOrder<Waiting> order_;
  bool is_posted_ = false;
};

}  // namespace hai
