#pragma once
// The dashboard's end of a shell: a client of WebSockets.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace hai {

// A client of WebSockets that waits for each thing it does.
class ShellBrowser {
 public:
  ShellBrowser(int port, const std::string& job, const std::string& token) {
    socket_.next_layer().connect(
        {boost::asio::ip::address_v4::loopback(), static_cast<uint16_t>(port)});
    socket_.set_option(boost::beast::websocket::stream_base::decorator(
        [&token](boost::beast::websocket::request_type& request) {
          request.set("Authorization", "Bearer " + token);
        }));
    socket_.handshake("hai", "/api/v1/jobs/" + job + "/shell");
  }
  void say(const nlohmann::json& words) { write(words.dump(), true); }
  void type(const std::string& bytes) { write(bytes, false); }
  // The next message; "" = the connection has ended.
  std::string hear() {
    boost::beast::flat_buffer buffer;
    boost::beast::error_code error;
    socket_.read(buffer, error);
    return error ? "" : boost::beast::buffers_to_string(buffer.data());
  }
  bool is_spoken_to() { return socket_.next_layer().available() > 0; }
  void leave() { socket_.next_layer().close(); }

 private:
  void write(const std::string& bytes, bool is_text) {
    socket_.text(is_text);
    boost::beast::error_code ignored;
    socket_.write(boost::asio::buffer(bytes), ignored);
  }

  boost::asio::io_context context_;
  boost::beast::websocket::stream<boost::asio::ip::tcp::socket> socket_{context_};
};

}  // namespace hai
