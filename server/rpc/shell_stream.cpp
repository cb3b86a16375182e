#include "server/rpc/shell_stream.h"

#include <utility>

#include "server/rpc/call_site.h"
#include "server/rpc/status_map.h"

namespace hai {

void ShellStream::begin(std::function<Events(std::shared_ptr<ShellStream>)> opened) {
  self_ = shared_from_this();
  post([this, opened = std::move(opened)] { events_ = opened(shared_from_this()); });
}

void ShellStream::post(std::function<void()> callback) {
  loop_.post([self = shared_from_this(), callback = std::move(callback)] { callback(); });
}

void ShellStream::read_next() {
  if (end_ || has_ended_ || std::exchange(read_in_flight_, true)) return;
  reading_.Clear();
  StartRead(&reading_);
}

void ShellStream::send(v1::ShellMessage message, std::function<void()> written) {
  if (end_ || has_ended_) return;
  writing_ = std::move(message);
  written_ = std::move(written);
  write_in_flight_ = true;
  StartWrite(&writing_);
}

void ShellStream::finish(const Status& status) {
  if (end_) return;
  end_ = status;
  if (!write_in_flight_) return finish_now();
  timer_ = loop_.call_after(kDrainTimeout, [this] {
    timer_ = 0;
    context_.TryCancel();  // The outstanding write fails, and its end finishes the stream.
  });
}

void ShellStream::finish_now() {
  if (std::exchange(is_finished_, true)) return;
  loop_.cancel(std::exchange(timer_, 0));  // gRPC's context may go at any time from here on
  const grpc::Status status = to_grpc(*end_);
  if (standing_ != nullptr && !status.ok()) add_standing(*standing_, context_, status);
  Finish(status);
}

void ShellStream::OnReadDone(bool ok) {
  post([this, ok] {
    read_in_flight_ = false;
    if (!ok) return other_side_ended();
    if (!end_) events_.message(std::move(reading_));
  });
}

void ShellStream::OnWriteDone(bool ok) {
  post([this, ok] {
    write_in_flight_ = false;
    const std::function<void()> written = std::exchange(written_, nullptr);
    if (end_) return finish_now();
    if (!ok) return other_side_ended();
    if (written) written();
  });
}

void ShellStream::OnCancel() {
  post([this] { other_side_ended(); });
}

void ShellStream::other_side_ended() {
  if (std::exchange(has_ended_, true) || end_) return;
  events_.ended();
}

void ShellStream::OnDone() {
  post([this] {
    // The callbacks may hold this stream: let go of them after they have run.
    const Events events = std::exchange(events_, {});
    if (events.done) events.done();
  });
  // The loop may be gone and have dropped the callback; then this is the last share.
  const std::shared_ptr<ShellStream> self = std::move(self_);
}

}  // namespace hai
