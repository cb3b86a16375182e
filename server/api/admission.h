#pragma once
// How many calls of people and tools may be under way at once, by gRPC and REST together: beyond it
// a call is refused before anything is done for it, on its own thread, so that a flood costs the
// loop nothing and a call that was let in is answered soon. Agents' streams do not come by here.
// Any thread.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace hai {

class Admission {
 public:
  // Weights: a call is 1, a batch as many as its jobs. About a second's worth of submits; calls
  // that only look get some more, so that one can still see what goes on.
  static constexpr int64_t kSubmitsMax = 10'000;
  static constexpr int64_t kAllMax = 12'000;
  static constexpr int kRetryAfterMs = 1'000;  // what a refused caller is told

  enum class Kind { submit, other };

  // False: refused, and leave() must not follow.
  bool enter(Kind kind, int64_t weight) {
    const int64_t max = kind == Kind::submit ? kSubmitsMax : kAllMax;
    const int64_t before = under_way_->fetch_add(weight, std::memory_order_relaxed);
    // One that is alone may be larger than all that may wait.
    if (before == 0 || before + weight <= max) return true;
    leave(weight);
    refused_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  void leave(int64_t weight) { under_way_->fetch_sub(weight, std::memory_order_relaxed); }

  // What a refused caller is told.
  std::string refusal() const {
    return "the server is busy: " + std::to_string(under_way()) +
           " requests are under way already, nothing was done; retry in a second";
  }
  int64_t under_way() const { return under_way_->load(std::memory_order_relaxed); }
  int64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  friend class Admitted;
  using Counter = std::atomic<int64_t>;
  std::shared_ptr<Counter> under_way_ = std::make_shared<Counter>(0);
  std::atomic<int64_t> refused_{0};
};

// What was let in, until it is released or forgotten: an answer may never be asked for again. May
// outlive the Admission, as what waits on the loop of a server that has stopped does.
class Admitted {
 public:
  Admitted(const Admission& admission, int64_t weight)
      : under_way_(admission.under_way_), weight_(weight) {}
  ~Admitted() { release(); }
  Admitted(const Admitted&) = delete;
  Admitted& operator=(const Admitted&) = delete;

  // Any thread, also more than once.
  void release() {
    if (!is_released_.exchange(true)) under_way_->fetch_sub(weight_, std::memory_order_relaxed);
  }

 private:
  std::shared_ptr<Admission::Counter> under_way_;
  int64_t weight_;
  std::atomic<bool> is_released_{false};
};

}  // namespace hai
