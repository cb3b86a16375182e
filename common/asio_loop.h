#pragma once
// The Loop of production: one thread calls run() and owns everything its callbacks touch. now() is
// CLOCK_BOOTTIME (boot_clock.h), so that a lease ends also while the machine sleeps; a timer does
// not count that sleep and comes late after it, never early. Adapters that speak Asio themselves
// (HTTP, processes) share its io_context.

#include <functional>
#include <initializer_list>
#include <memory>

#include "common/loop.h"

namespace boost::asio {
class io_context;
}

namespace hai {

class AsioLoop final : public Loop {
 public:
  AsioLoop();
  ~AsioLoop() override;
  AsioLoop(const AsioLoop&) = delete;
  AsioLoop& operator=(const AsioLoop&) = delete;

  // Runs callbacks until stop(); being idle does not end it. One thread at a time.
  void run();
  // From any thread: run() returns after the current callback, or at once if it comes first. What
  // is still queued stays queued for the next run().
  void stop();

  MonoTime now() const override;
  UnixTime wall_now() const override;
  void post(std::function<void()> callback) override;
  TimerId call_after(Duration delay, std::function<void()> callback) override;
  void cancel(TimerId timer) override;

  // Calls `callback(signal)` on the loop each time one of the signals arrives, e.g.
  // on_signals({SIGINT, SIGTERM}, ...).
  void on_signals(std::initializer_list<int> signals, std::function<void(int)> callback);

  boost::asio::io_context& io_context();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hai
