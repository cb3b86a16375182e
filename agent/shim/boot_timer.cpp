#include "agent/shim/boot_timer.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/check.h"

namespace hai {

struct BootTimer::Impl : std::enable_shared_from_this<BootTimer::Impl> {
  Impl(boost::asio::io_context& context, int fd, std::function<void()> function)
      : descriptor(context, fd), expired(std::move(function)) {}

  void wait() {
    descriptor.async_wait(
        descriptor.wait_read, [self = shared_from_this()](boost::system::error_code error) {
          if (error || !self->expired) return;
          uint64_t expirations = 0;
          const bool is_due =
              ::read(self->descriptor.native_handle(), &expirations, sizeof expirations) > 0;
          self->wait();
          if (is_due) self->expired();
        });
  }

  boost::asio::posix::stream_descriptor descriptor;
  std::function<void()> expired;
};

BootTimer::BootTimer(boost::asio::io_context& context, std::function<void()> expired) {
  const int fd = ::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  CHECK(fd >= 0);
  impl_ = std::make_shared<Impl>(context, fd, std::move(expired));
  impl_->wait();
}

BootTimer::~BootTimer() {
  impl_->expired = nullptr;
  boost::system::error_code ignored;
  impl_->descriptor.close(ignored);
}

void BootTimer::set(MonoTime deadline) {
  // 1 us at least: an absolute time of zero would disarm the timer.
  const int64_t micros = std::max<int64_t>(1, deadline.time_since_epoch().count());
  itimerspec spec{};
  spec.it_value.tv_sec = micros / 1'000'000;
  spec.it_value.tv_nsec = micros % 1'000'000 * 1000;
  ::timerfd_settime(impl_->descriptor.native_handle(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

}  // namespace hai
