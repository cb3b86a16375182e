#include "agent/shim/line_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <set>

#include "agent/os/files.h"
#include "common/time.h"

namespace hai {

namespace asio = boost::asio;
using Socket = asio::local::stream_protocol::socket;

namespace {

constexpr Duration kFinishPatience = 1s;
constexpr Duration kAcceptRetry = 100ms;
constexpr size_t kReadBytes = 16 << 10;
constexpr const char* kLineTooLong = R"({"ok":false,"error":"line too long"})";
constexpr const char* kTooManyConnections = R"({"ok":false,"error":"too many connections"})";

class Connection;

}  // namespace

struct LineServer::Impl : std::enable_shared_from_this<LineServer::Impl> {
  Impl(asio::io_context& io, LineServerLimits bounds, Answer function)
      : context(io), limits(bounds), answer(std::move(function)), acceptor(io), timer(io) {}

  void accept();
  void admit(Socket socket);
  void remove(const std::shared_ptr<Connection>& connection);
  void check_finished();
  void close();

  asio::io_context& context;
  LineServerLimits limits;
  Answer answer;
  asio::local::stream_protocol::acceptor acceptor;
  asio::steady_timer timer;  // of accept's retry, and later of finish
  std::string path;
  std::set<std::shared_ptr<Connection>> connections;
  std::string pushed;
  std::function<void()> done;
};

namespace {

// One client. It reads on only after its answer was written, so that what it holds is bounded.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<LineServer::Impl> server, Socket socket);

  void start();
  void push() {
    push_due_ = true;
    write();
  }
  bool is_idle() const { return !writing_ && answers_.empty() && !push_due_; }
  void close();

 private:
  void read();
  void take(std::string_view bytes);
  void answer_next();
  void write();

  std::shared_ptr<LineServer::Impl> server_;
  Socket socket_;
  std::array<char, kReadBytes> chunk_;
  std::string input_;      // what was not answered yet
  bool skipping_ = false;  // inside a line that was too long
  bool push_due_ = false;
  bool writing_ = false;
  bool reading_ = false;
  std::string answers_;
  std::string outgoing_;  // of the write in flight
};

Connection::Connection(std::shared_ptr<LineServer::Impl> server, Socket socket)
    : server_(std::move(server)), socket_(std::move(socket)) {}

void Connection::start() {
  if (!server_->pushed.empty()) push();
  read();
}

void Connection::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  server_->remove(shared_from_this());
}

void Connection::read() {
  if (reading_ || !socket_.is_open()) return;
  reading_ = true;
  socket_.async_read_some(asio::buffer(chunk_),
                          [self = shared_from_this()](boost::system::error_code error, size_t got) {
                            self->reading_ = false;
                            if (error) return self->close();
                            self->take({self->chunk_.data(), got});
                            self->answer_next();
                          });
}

// Keeps whole lines and the beginning of one; what belongs to a line that is too long is dropped.
void Connection::take(std::string_view bytes) {
  if (skipping_) {
    const size_t newline = bytes.find('\n');
    if (newline == std::string_view::npos) return;
    bytes.remove_prefix(newline + 1);
    skipping_ = false;
  }
  input_ += bytes;
  const size_t last = input_.rfind('\n');
  const size_t open = last == std::string::npos ? input_.size() : input_.size() - last - 1;
  if (open > server_->limits.line_bytes_max) {
    input_.resize(input_.size() - open);
    skipping_ = true;
    answers_ += kLineTooLong;
    answers_ += '\n';
  }
}

void Connection::answer_next() {
  while (answers_.empty()) {
    const size_t newline = input_.find('\n');
    if (newline == std::string::npos) break;
    const std::string line = input_.substr(0, newline);
    input_.erase(0, newline + 1);
    answers_ = server_->answer(line);
    if (!answers_.empty()) answers_ += '\n';
  }
  if (is_idle()) {
    read();
  } else {
    write();
  }
}

void Connection::write() {
  if (writing_ || !socket_.is_open()) return;
  outgoing_ = std::move(answers_);
  answers_.clear();
  if (push_due_) outgoing_ += server_->pushed + "\n";
  push_due_ = false;
  if (outgoing_.empty()) return;
  writing_ = true;
  asio::async_write(socket_, asio::buffer(outgoing_),
                    [self = shared_from_this()](boost::system::error_code error, size_t) {
                      self->writing_ = false;
                      if (error) return self->close();
                      self->write();
                      self->answer_next();
                      self->server_->check_finished();
                    });
}

}  // namespace

void LineServer::Impl::accept() {
  acceptor.async_accept(
      [self = shared_from_this()](boost::system::error_code error, Socket socket) {
        if (error == asio::error::operation_aborted || !self->acceptor.is_open()) return;
        if (!error) {
          self->admit(std::move(socket));
          return self->accept();
        }
        // Out of descriptors, most likely: the clients can wait.
        self->timer.expires_after(kAcceptRetry);
        self->timer.async_wait([self](boost::system::error_code cancelled) {
          if (!cancelled) self->accept();
        });
      });
}

void LineServer::Impl::admit(Socket socket) {
  if (static_cast<int>(connections.size()) >= limits.connections_max) {
    const std::string text = std::string(kTooManyConnections) + "\n";
    boost::system::error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(text), ignored);
    return;
  }
  const auto connection = std::make_shared<Connection>(shared_from_this(), std::move(socket));
  connections.insert(connection);
  connection->start();
}

void LineServer::Impl::remove(const std::shared_ptr<Connection>& connection) {
  connections.erase(connection);
  check_finished();
}

void LineServer::Impl::check_finished() {
  if (!done) return;
  for (const auto& connection : connections) {
    if (!connection->is_idle()) return;
  }
  timer.cancel();
  asio::post(context, std::exchange(done, nullptr));
}

void LineServer::Impl::close() {
  boost::system::error_code ignored;
  acceptor.close(ignored);
  timer.cancel();
  for (const auto& connection : std::set(connections)) connection->close();
}

LineServer::LineServer(asio::io_context& context, LineServerLimits limits, Answer answer)
    : impl_(std::make_shared<Impl>(context, limits, std::move(answer))) {}

LineServer::~LineServer() {
  impl_->done = nullptr;
  impl_->close();
  if (!impl_->path.empty()) ::unlink(impl_->path.c_str());
}

Status LineServer::listen(const std::string& path, uid_t owner, gid_t group) {
  ::unlink(path.c_str());
  boost::system::error_code error;
  auto& acceptor = impl_->acceptor;
  acceptor.open({}, error);
  // Nobody can connect before the listen(), so there is no moment in which the mode is too wide.
  if (!error) acceptor.bind(path, error);
  if (error) return internal("cannot make socket {}: {}", path, error.message());
  impl_->path = path;
  if (::chmod(path.c_str(), 0600) != 0 ||
      (::geteuid() == 0 && ::chown(path.c_str(), owner, group) != 0)) {
    return internal("cannot give socket {} to user {}: {}", path, owner, errno_text(errno));
  }
  acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return internal("cannot listen on {}: {}", path, error.message());
  ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  impl_->accept();
  return ok();
}

Status LineServer::listen(int fd, const std::string& path) {
  boost::system::error_code error;
  impl_->acceptor.assign({}, fd, error);
  if (error) return internal("cannot use socket {}: {}", path, error.message());
  impl_->path = path;
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  impl_->accept();
  return ok();
}

void LineServer::push(std::string line) {
  impl_->pushed = std::move(line);
  for (const auto& connection : std::set(impl_->connections)) connection->push();
}

void LineServer::finish(std::function<void()> done) {
  impl_->done = std::move(done);
  boost::system::error_code ignored;
  impl_->acceptor.close(ignored);
  impl_->timer.expires_after(kFinishPatience);
  impl_->timer.async_wait([impl = impl_](boost::system::error_code error) {
    if (!error && impl->done) asio::post(impl->context, std::exchange(impl->done, nullptr));
  });
  impl_->check_finished();
}

}  // namespace hai
