#pragma once
// A thread for work that storage may hold up for ever, beside a loop. The loop hands it work; what
// the work returns runs on the loop, unless the owner is gone by then. So many may wait, not more.
// A thread that is held by storage when its owner goes is left behind: the process can end without
// it.

#include <functional>
#include <memory>

#include "common/loop.h"

namespace hai {

class SideThread {
 public:
  using Answer = std::function<void()>;  // may be empty
  using Work = std::function<Answer()>;

  SideThread(Loop& loop, size_t waiting_max);
  // Waits a moment for the work at hand; what waits behind it is dropped.
  ~SideThread();
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  // False if too much waits already. `work` must own what it uses: it may outlive the owner.
  bool post(Work work);
  bool is_idle() const;

 private:
  struct State;
  static void run(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

}  // namespace hai
