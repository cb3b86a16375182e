#include "agent/fleet/control_socket.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <istream>

namespace hai {

namespace {

namespace asio = boost::asio;
using Unix = asio::local::stream_protocol;
using boost::system::error_code;

constexpr size_t kLineMax = 1U << 20;  // a list of all nodes of a large fleet
constexpr size_t kPathMax = 107;       // of a Unix socket

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Unix::socket socket, ControlSocket::Execute execute)
      : socket_(std::move(socket)), execute_(std::move(execute)) {}

  void read() {
    asio::async_read_until(socket_, in_, '\n',
                           [self = shared_from_this()](const error_code& error, size_t) {
                             if (!error) self->answer();
                           });
  }

 private:
  void answer() {
    std::istream stream(&in_);
    std::string line;
    std::getline(stream, line);
    out_ = execute_(line) + "\n";
    asio::async_write(socket_, asio::buffer(out_),
                      [self = shared_from_this()](const error_code& error, size_t) {
                        if (!error) self->read();
                      });
  }

  Unix::socket socket_;
  ControlSocket::Execute execute_;
  asio::streambuf in_{kLineMax};
  std::string out_;
};

bool is_answered(asio::io_context& context, const std::string& path) {
  Unix::socket probe(context);
  error_code error;
  probe.connect(Unix::endpoint(path), error);
  return !error;
}

}  // namespace

struct ControlSocket::Impl : std::enable_shared_from_this<Impl> {
  Impl(asio::io_context& context, std::string path_given, Execute execute_given)
      : acceptor(context), path(std::move(path_given)), execute(std::move(execute_given)) {}

  void accept() {
    acceptor.async_accept(
        [self = shared_from_this()](const error_code& error, Unix::socket socket) {
          if (error || !self->acceptor.is_open()) return;
          std::make_shared<Connection>(std::move(socket), self->execute)->read();
          self->accept();
        });
  }

  Unix::acceptor acceptor;
  const std::string path;
  Execute execute;
};

Result<std::unique_ptr<ControlSocket>> ControlSocket::open(asio::io_context& context,
                                                           const std::string& path,
                                                           Execute execute) {
  if (path.size() > kPathMax) {
    return invalid_argument("{}: longer than the {} bytes of a socket's path", path, kPathMax);
  }
  if (is_answered(context, path)) return failed_precondition("{} is in use by another fleet", path);
  unlink(path.c_str());
  auto impl = std::make_shared<Impl>(context, path, std::move(execute));
  error_code error;
  impl->acceptor.open(Unix(), error);
  const mode_t mask = umask(0177);
  if (!error) impl->acceptor.bind(Unix::endpoint(path), error);
  umask(mask);
  if (!error) impl->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return internal("{}: {}", path, error.message());
  impl->accept();
  return std::unique_ptr<ControlSocket>(new ControlSocket(std::move(impl)));
}

ControlSocket::~ControlSocket() {
  error_code ignored;
  impl_->acceptor.close(ignored);
  impl_->execute = [](std::string_view) { return std::string("error the fleet has ended"); };
  unlink(impl_->path.c_str());
}

}  // namespace hai
