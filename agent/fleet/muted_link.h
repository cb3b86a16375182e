#pragma once
// A link that can fall silent, as a network does that carries nothing any more but breaks no
// connection: reports and orders are lost, both ways, and nobody is told.

#include <utility>

#include "agent/core/ports.h"

namespace hai {

class MutedLink final : public ServerLink {
 public:
  // Both outlive it.
  MutedLink(ServerLink& link, const bool& is_silent) : link_(link), is_silent_(is_silent) {}

  void start(Listener listener) override {
    listener.order = [this, order = std::move(listener.order)](const AgentOrder& what) {
      if (!is_silent_) order(what);
    };
    link_.start(std::move(listener));
  }
  void send(const AgentReport& report) override {
    if (!is_silent_) link_.send(report);
  }

 private:
  ServerLink& link_;
  const bool& is_silent_;
};

}  // namespace hai
