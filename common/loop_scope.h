#pragma once
// Callbacks and timers that end with what they belong to: an object, or one part of its life. Used
// on the loop's thread only.

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "common/loop.h"

namespace hai {

// Callbacks made by bind() do nothing once the scope has ended; one that returns a value returns a
// default-constructed one then.
class LoopScope {
 public:
  LoopScope() = default;
  LoopScope(const LoopScope&) = delete;
  LoopScope& operator=(const LoopScope&) = delete;

  template <typename Callback>
  auto bind(Callback callback) const {
    return [alive = std::weak_ptr<Token>(token_),
            callback = std::move(callback)]<typename... Args>(Args&&... args) {
      using Answer = std::invoke_result_t<const Callback&, Args...>;
      if (alive.expired()) return Answer();
      return callback(std::forward<Args>(args)...);
    };
  }
  // What was bound until now has ended; what is bound from now on belongs to the next part.
  void renew() { token_ = std::make_shared<Token>(); }

 private:
  struct Token {};
  std::shared_ptr<Token> token_ = std::make_shared<Token>();
};

// One timer at a time. Armed again it forgets what it was armed for; destroyed it never fires.
class LoopTimer {
 public:
  explicit LoopTimer(Loop& loop) : loop_(loop) {}
  ~LoopTimer() { cancel(); }
  LoopTimer(const LoopTimer&) = delete;
  LoopTimer& operator=(const LoopTimer&) = delete;

  void arm(Duration delay, std::function<void()> callback) {
    cancel();
    id_ = loop_.call_after(delay, [this, callback = std::move(callback)] {
      id_ = 0;
      callback();
    });
  }
  void cancel() { loop_.cancel(std::exchange(id_, 0)); }
  bool is_armed() const { return id_ != 0; }

 private:
  Loop& loop_;
  TimerId id_ = 0;
};

}  // namespace hai
