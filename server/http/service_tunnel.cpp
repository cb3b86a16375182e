#include "server/http/service_tunnel.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstring>

#include "common/check.h"

namespace hai {

// After the server has stopped nothing runs any more, and what was posted would be held for ever.
template <typename Action>
void ServiceTunnel::post_here(Action action) {
  if (context_->stopped()) return;
  boost::asio::post(*context_, [self = shared_from_this(), action = std::move(action)]() mutable {
    action(*self);
  });
}

void ServiceTunnel::open(const ServiceGate& gate, const ServiceWay& way, const std::string& address,
                         std::function<void(Result<v1::ShellStarted>)> opened) {
  opened_ = std::move(opened);
  v1::ShellMessage message;
  message.mutable_open()->set_job(way.job);
  message.mutable_open()->mutable_program()->set_service(way.service);
  loop_.post([self = shared_from_this(), open_shell = gate.open_shell, caller = way.caller, address,
              message = std::move(message)]() mutable {
    self->outgoing_.push_back({std::move(message), 0});
    Events events = open_shell(self, caller, address);
    if (self->is_finished_) {  // it was refused meanwhile
      if (events.done) events.done();
      return;
    }
    self->events_ = std::move(events);
    self->deliver();
  });
}

void ServiceTunnel::close() {
  if (has_ended_) return;
  ended({Code::cancelled, "the connection was given up"});
  loop_.post([self = shared_from_this()] { self->other_side_ended(); });
}

void ServiceTunnel::start_read(boost::asio::mutable_buffer to, Done done) {
  CHECK(!read_done_);
  reading_ = to;
  read_done_ = std::move(done);
  take_input();
}

// What has come is read before the end is told.
void ServiceTunnel::take_input() {
  if (!read_done_) return;
  const size_t left = input_.size() - input_read_;
  if (left == 0 && reading_.size() > 0) {
    // A stream that was cut off is not one that has ended.
    const Error end = why_.is_ok() && !was_cut_ ? Error(boost::asio::error::eof)
                                                : Error(boost::asio::error::connection_reset);
    if (has_ended_) complete(std::exchange(read_done_, nullptr), end, 0);
    return;
  }
  const size_t taken = std::min(left, reading_.size());
  std::memcpy(reading_.data(), input_.data() + input_read_, taken);
  input_read_ += taken;
  if (input_read_ == input_.size()) {
    input_.clear();
    input_read_ = 0;
  }
  complete(std::exchange(read_done_, nullptr), {}, taken);
  const size_t before = unread_.fetch_sub(taken);
  if (before >= kWindow && before - taken < kWindow)
    loop_.post([self = shared_from_this()] { self->go_on(); });
}

void ServiceTunnel::go_on() {
  if (unread_ >= kWindow) return;
  const std::function<void()> written = std::exchange(written_, nullptr);
  if (written) written();
}

void ServiceTunnel::start_write(std::string bytes, Done done) {
  if (has_ended_) return complete(std::move(done), boost::asio::error::broken_pipe, 0);
  if (bytes.empty()) return complete(std::move(done), {}, 0);
  CHECK(!write_done_);
  v1::ShellMessage message;
  const size_t size = bytes.size();
  unsent_ += size;
  if (unsent_ <= kWindow) {
    complete(std::move(done), {}, size);
  } else {
    write_done_ = std::move(done);
    writing_ = size;
  }
  message.set_input(std::move(bytes));
  loop_.post([self = shared_from_this(), message = std::move(message), size]() mutable {
    if (self->is_finished_) return;
    self->outgoing_.push_back({std::move(message), size});
    self->deliver();
  });
}

void ServiceTunnel::complete(Done done, Error error, size_t bytes) {
  post_here([done = std::move(done), error, bytes](ServiceTunnel&) { done(error, bytes); });
}

void ServiceTunnel::received(v1::ShellMessage& message) {
  if (has_ended_) return;
  if (message.has_started()) {
    is_started_ = true;
    if (const auto opened = std::exchange(opened_, nullptr)) opened(message.started());
  } else if (message.has_end()) {
    was_cut_ = message.end().exit_code() != 0;
  } else if (message.body_case() == v1::ShellMessage::kOutput) {
    input_.erase(0, std::exchange(input_read_, 0));
    input_ += message.output();
    take_input();
  }
}

void ServiceTunnel::ended(const Status& why) {
  if (std::exchange(has_ended_, true)) return;
  why_ = why;
  if (const auto opened = std::exchange(opened_, nullptr)) {
    opened(why.is_ok() ? unavailable("the connection has ended") : why);
  }
  take_input();
  if (write_done_)
    complete(std::exchange(write_done_, nullptr), boost::asio::error::broken_pipe, 0);
}

void ServiceTunnel::read_next() {
  is_wanted_ = true;
  deliver();
}

void ServiceTunnel::deliver() {
  if (!is_wanted_ || outgoing_.empty() || is_finished_ || !events_.message) return;
  is_wanted_ = false;
  Outgoing next = std::move(outgoing_.front());
  outgoing_.pop_front();
  events_.message(std::move(next.message));
  if (next.bytes == 0) return;
  post_here([bytes = next.bytes](ServiceTunnel& self) {
    self.unsent_ -= bytes;
    if (self.write_done_ && self.unsent_ <= kWindow)
      self.complete(std::exchange(self.write_done_, nullptr), {}, self.writing_);
  });
}

void ServiceTunnel::send(v1::ShellMessage message, std::function<void()> written) {
  if (is_finished_) return;
  written_ = std::move(written);
  unread_ += message.output().size();
  post_here(
      [message = std::move(message)](ServiceTunnel& self) mutable { self.received(message); });
  go_on();
}

void ServiceTunnel::finish(const Status& status) {
  if (std::exchange(is_finished_, true)) return;
  outgoing_.clear();
  written_ = nullptr;
  post_here([status](ServiceTunnel& self) { self.ended(status); });
  // Whoever ends it is at it still, and the callbacks may hold this: let go of them afterwards.
  loop_.post([self = shared_from_this()] {
    const Events events = std::exchange(self->events_, {});
    if (events.done) events.done();
  });
}

void ServiceTunnel::other_side_ended() {
  if (!is_finished_ && events_.ended) events_.ended();
}

}  // namespace hai
