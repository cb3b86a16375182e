// What a client over TLS says of servers that are slow on purpose, or end the conversation.

#include "common/tls/tls_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "tests/support/certificates.h"

namespace hai {
namespace {

// Takes one connection and says `words` again and again, a moment apart, until it is hung up on.
class Talker {
 public:
  Talker(std::string words, int times) : words_(std::move(words)), times_(times) {
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, generic, size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { talk(); });
  }
  ~Talker() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  const std::string& address() const { return address_; }

 private:
  void talk() {
    const int peer = ::accept(listener_, nullptr, nullptr);
    char hello[1024];
    if (::recv(peer, hello, sizeof hello, 0) > 0) {
      for (int i = 0; i < times_; ++i) {
        if (::send(peer, words_.data(), words_.size(), MSG_NOSIGNAL) < 0) break;
        pollfd hung_up{.fd = peer, .events = POLLRDHUP};
        if (::poll(&hung_up, 1, 20) != 0) break;
      }
      while (::recv(peer, hello, sizeof hello, 0) > 0) {
      }
    }
    ::close(peer);
  }

  const std::string words_;
  const int times_;
  const int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string address_;
  std::thread thread_;
};

Status dial(const std::string& address, Duration timeout = 5s) {
  TestAuthority ca;
  return TlsClient::connect({.address = address, .texts = {.ca = ca.ca_text()}, .timeout = timeout})
      .status();
}

// Found by review: the timeout began anew with each byte, so that a port which drips them held up
// `hai init` and agents for good.
TEST(TlsClient, ADrippingServerIsNotWaitedForLongerThanWasSaid) {
  // The head of a record of 16,000 bytes, and then its bytes.
  Talker talker(std::string("\x16\x03\x03\x3e\x80", 5), 500);
  const auto began = std::chrono::steady_clock::now();
  const Status status = dial(talker.address(), 200ms);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(3));
  EXPECT_EQ(status.code(), Code::unavailable);
  EXPECT_NE(status.message().find("no answer in time"), std::string::npos) << status.message();
}

std::string alert(char number) { return std::string("\x15\x03\x03\x00\x02\x02", 6) + number; }

TEST(TlsClient, AnAlertIsAboutCertificatesOnlyIfItSaysSo) {
  constexpr char kProtocolVersion = 70;
  constexpr char kBadCertificate = 42;
  Talker old(alert(kProtocolVersion), 1);
  Status status = dial(old.address());
  EXPECT_EQ(status.code(), Code::failed_precondition);
  EXPECT_NE(status.message().find("speaks TLS, but not TLS 1.3"), std::string::npos)
      << status.message();
  Talker strict(alert(kBadCertificate), 1);
  status = dial(strict.address());
  EXPECT_EQ(status.code(), Code::permission_denied);
  EXPECT_NE(status.message().find("wants a certificate of this side, which has none"),
            std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace hai
