#include "common/tcp_listen.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include "common/host_port.h"

namespace hai {
namespace {

using boost::asio::ip::tcp;

// Who connects to it from `address` of this machine, as a log has him.
std::string seen_from(boost::asio::io_context& context, tcp::acceptor& acceptor,
                      const char* address) {
  tcp::socket client(context);
  boost::system::error_code error;
  client.connect({boost::asio::ip::make_address(address), acceptor.local_endpoint().port()}, error);
  if (error) return error.message();
  const tcp::socket served = acceptor.accept();
  return plain_address(served.remote_endpoint().address().to_string());
}

TEST(ListenOn, AllOfIpv6TakesIpv4Too) {
  boost::asio::io_context context;
  tcp::acceptor acceptor(context);
  const Status status = listen_on(acceptor, "[::]:0");
  if (status.code() == Code::unavailable) GTEST_SKIP() << status.message();
  ASSERT_TRUE(status.is_ok()) << status.message();
  boost::asio::ip::v6_only is_alone;
  acceptor.get_option(is_alone);
  EXPECT_FALSE(is_alone.value());
  EXPECT_EQ(seen_from(context, acceptor, "127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(seen_from(context, acceptor, "::1"), "::1");
}

TEST(ListenOn, OneAddressIsThatOneAlone) {
  boost::asio::io_context context;
  tcp::acceptor acceptor(context);
  const Status status = listen_on(acceptor, "127.0.0.1:0");
  ASSERT_TRUE(status.is_ok()) << status.message();
  EXPECT_EQ(acceptor.local_endpoint().address().to_string(), "127.0.0.1");
  tcp::acceptor other(context);
  EXPECT_EQ(listen_on(other, "127.0.0.1").code(), Code::invalid_argument);
}

}  // namespace
}  // namespace hai
