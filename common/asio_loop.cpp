#include "common/asio_loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <unordered_map>
#include <utility>

#include "common/boot_clock.h"

namespace hai {

namespace asio = boost::asio;

struct AsioLoop::Impl {
  struct SignalWatch {
    SignalWatch(asio::io_context& context, std::function<void(int)> function)
        : signals(context), callback(std::move(function)) {}
    asio::signal_set signals;
    std::function<void(int)> callback;
  };

  // One thread runs it, so Asio may skip the locks that several would need; post() stays safe from
  // any thread.
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(context);
  std::unordered_map<TimerId, asio::steady_timer> timers;
  TimerId last_timer = 0;
  std::list<SignalWatch> watches;

  void fire(TimerId id, const std::function<void()>& callback) {
    // A cancelled timer whose handler was already queued is gone from the map: it must not fire.
    if (timers.erase(id) != 0) callback();
  }

  void wait_for_signal(SignalWatch& watch) {
    watch.signals.async_wait([this, &watch](boost::system::error_code error, int signal) {
      if (error) return;
      wait_for_signal(watch);
      watch.callback(signal);
    });
  }
};

AsioLoop::AsioLoop() : impl_(std::make_unique<Impl>()) {}
AsioLoop::~AsioLoop() = default;

void AsioLoop::run() {
  impl_->context.run();
  impl_->context.restart();  // After, not before: a stop() that came first must count.
}

void AsioLoop::stop() { impl_->context.stop(); }

MonoTime AsioLoop::now() const { return boot_now(); }

UnixTime AsioLoop::wall_now() const { return system_now(); }

void AsioLoop::post(std::function<void()> callback) {
  asio::post(impl_->context, std::move(callback));
}

TimerId AsioLoop::call_after(Duration delay, std::function<void()> callback) {
  const TimerId id = ++impl_->last_timer;
  asio::steady_timer& timer = impl_->timers.emplace(id, impl_->context).first->second;
  timer.expires_after(delay);
  timer.async_wait(
      [impl = impl_.get(), id, callback = std::move(callback)](boost::system::error_code error) {
        if (!error) impl->fire(id, callback);
      });
  return id;
}

void AsioLoop::cancel(TimerId timer) { impl_->timers.erase(timer); }

void AsioLoop::on_signals(std::initializer_list<int> signals, std::function<void(int)> callback) {
  Impl::SignalWatch& watch = impl_->watches.emplace_back(impl_->context, std::move(callback));
  for (const int signal : signals) watch.signals.add(signal);
  impl_->wait_for_signal(watch);
}

boost::asio::io_context& AsioLoop::io_context() { return impl_->context; }

}  // namespace hai
