#include "agent/shim/output_pipe.h"

#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>

#include "common/boot_clock.h"

namespace hai {

namespace {

constexpr size_t kChunkBytes = 64 << 10;
// More than any pipe holds: someone outside the rank was given its output and goes on writing.
constexpr size_t kDrainBytesMax = 8 << 20;

}  // namespace

struct OutputPipe::Impl : std::enable_shared_from_this<OutputPipe::Impl> {
  Impl(boost::asio::io_context& context, int fd, LogSpool& log, std::function<void()> function)
      : descriptor(context, fd), spool(log), arrived(std::move(function)) {}

  void wait() {
    descriptor.async_wait(descriptor.wait_read,
                          [self = shared_from_this()](boost::system::error_code error) {
                            if (error || !self->descriptor.is_open()) return;
                            if (self->take() == 0) return self->finish();
                            self->wait();
                          });
  }

  // Bytes taken; 0 at the end, -1 if there are none now.
  ssize_t take() {
    const ssize_t got = ::read(descriptor.native_handle(), chunk.data(), chunk.size());
    if (got < 0) return errno == EAGAIN || errno == EINTR ? -1 : 0;
    if (got == 0) return 0;
    spool.append(source, {chunk.data(), static_cast<size_t>(got)}, system_now());
    arrived();
    return got;
  }

  void finish() {
    spool.finish(source, system_now());
    boost::system::error_code ignored;
    descriptor.close(ignored);
  }

  boost::asio::posix::stream_descriptor descriptor;
  LogSpool& spool;
  LogSpool::Source source;
  std::function<void()> arrived;
  std::array<char, kChunkBytes> chunk;
};

OutputPipe::OutputPipe(boost::asio::io_context& context, UniqueFd reader, LogSpool& spool,
                       std::function<void()> arrived)
    : impl_(std::make_shared<Impl>(context, reader.release(), spool, std::move(arrived))) {
  impl_->wait();
}

OutputPipe::OutputPipe(OutputPipe&&) noexcept = default;

OutputPipe::~OutputPipe() {
  if (!impl_) return;
  boost::system::error_code ignored;
  impl_->descriptor.close(ignored);
}

void OutputPipe::drain() {
  if (!impl_->descriptor.is_open()) return;
  size_t taken = 0;
  while (taken < kDrainBytesMax) {
    const ssize_t got = impl_->take();
    if (got <= 0) break;
    taken += static_cast<size_t>(got);
  }
  impl_->finish();
}

}  // namespace hai
