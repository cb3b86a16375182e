// All that comes over one connection of HTTP, from the first byte to the operation: the session and
// its parser, the routes, queries and bodies, and the frames of a WebSocket, where the client asks
// for one. The answer is HTTP, and never the server's own failure; there is none only where the
// client hung up before he had asked. "TOKEN" in an input stands for an administrator's token,
// "USER" for a user's.

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http.hpp>

#include "server/http/http_session.h"
#include "server/http/routes.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/portless_server.h"

namespace hai::fuzz {
namespace {

constexpr size_t kSentMax = 64 << 10;  // what a socket takes at once
constexpr Duration kQuiet = 20ms;      // then nothing comes any more: a stream of events, say
constexpr Duration kLongest = 8s;

void put_in(std::string& text, std::string_view word, std::string_view value) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    text.replace(at, word.size(), value);
    at += value.size();
  }
}

// Where the first head ends that asks for a WebSocket: frames follow it, and wait for the answer.
// Else the end.
size_t end_of_first(const std::string& text) {
  const size_t end = text.find("\r\n\r\n");
  const bool is_for_socket = text.substr(0, end).find("websocket") != std::string::npos;
  return is_for_socket && end != std::string::npos ? end + 4 : text.size();
}

// The client's end: says all it has to say at once, and that nothing follows.
class Client {
 public:
  Client(int fd, const std::string& text) : fd_(fd), frames_(text.substr(end_of_first(text))) {
    send(text.substr(0, end_of_first(text)));
    if (frames_.empty()) ::shutdown(fd_, SHUT_WR);
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Whether something came.
  bool hear() {
    char buffer[16 << 10];
    bool has_come = false;
    for (ssize_t n = 1; n > 0;) {
      n = ::recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT);
      if (n <= 0) break;
      has_come = true;
      if (answer_.size() < 64) answer_.append(buffer, static_cast<size_t>(n));
    }
    if (has_come && !frames_.empty()) {
      send(std::exchange(frames_, ""));
      ::shutdown(fd_, SHUT_WR);
    }
    return has_come;
  }
  const std::string& answer() const { return answer_; }

 private:
  void send(const std::string& text) {
    (void)!::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  const int fd_;
  std::string frames_;  // to be said after the first answer
  std::string answer_;
};

// Whether the client has asked something, or said what is no HTTP: both are answered (RFC 9112).
// Not who said nothing, or hung up in the middle of it.
bool is_owed_an_answer(const std::string& text, const HttpLimits& limits) {
  namespace http = boost::beast::http;
  http::request_parser<http::string_body> parser;
  parser.header_limit(static_cast<uint32_t>(limits.header_bytes));
  parser.body_limit(boost::none);
  boost::beast::error_code error;
  boost::asio::const_buffer rest(text.data(), text.size());
  while (rest.size() > 0 && !parser.is_done()) {
    rest += parser.put(rest, error);
    if (error == http::error::need_more) return false;
    // What is wrong in a head that never ends is not seen by who reads it in pieces.
    if (error) return text.find("\r\n\r\n") != std::string::npos;
    // Memory for a body is taken at its beginning, as much as the head says that it has.
    if (parser.content_length().value_or(0) > text.size()) return false;
    parser.eager(true);
  }
  return parser.is_done();
}

void judge_answer(const std::string& answer, bool is_owed) {
  if (answer.empty() && is_owed) broken("a request is not answered");
  if (answer.empty()) return;
  if (!answer.starts_with("HTTP/1.")) broken("the answer is no HTTP: " + answer.substr(0, 60));
  const int status = std::atoi(answer.substr(9, 3).c_str());
  const bool is_socket = status == 101;
  if ((status < 200 && !is_socket) || status == 500 || status == 502)
    broken("answered " + answer.substr(0, 60));
}

void run(std::string text) {
  PortlessServer& server = PortlessServer::shared();
  put_in(text, "TOKEN", PortlessServer::kAdminToken);
  put_in(text, "USER", PortlessServer::kUserToken);
  text.resize(std::min(text.size(), kSentMax));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return;
  boost::asio::ip::tcp::socket socket(server.context(), boost::asio::ip::tcp::v4(), ends[0]);
  Client client(ends[1], text);

  const HttpLimits limits = server.serving().http_limits();
  const HttpServer::Handler handler = [&](const HttpRequest& request, HttpRespond respond) {
    server.serving().routes().handle(request, std::move(respond));
  };
  bool is_over = false;
  // The context outlives the session, whoever owns it.
  const std::shared_ptr<boost::asio::io_context> context(&server.context(), [](void*) {});
  auto session = HttpSession::make(context, std::move(socket), {}, limits, handler,
                                   {.known = [](HttpSession*, const std::string&) {},
                                    .ended = [&](HttpSession*) { is_over = true; }});
  session->start();
  auto heard_at = std::chrono::steady_clock::now();
  const bool is_owed = is_owed_an_answer(text, limits);
  const auto is_quiet = [&] {
    const auto now = std::chrono::steady_clock::now();
    if (client.hear()) heard_at = now;
    const bool may_be_all = !is_owed || !client.answer().empty();
    return is_over || (may_be_all && now - heard_at > kQuiet);
  };
  server.run_until(is_quiet, kLongest);
  client.hear();
  if (!is_over) session->close();
  session.reset();
  // What it has posted before its end refers to what is here.
  server.context().restart();
  server.context().poll();
  judge_answer(client.answer(), is_owed);
}

}  // namespace
}  // namespace hai::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hai::fuzz::run(std::string(hai::fuzz::text_of(data, size)));
  return 0;
}
