#pragma once
// A listening socket for those that accept by themselves. Included by adapters only: brings Asio.

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "common/status.h"

namespace hai {

// Opens the acceptor on `address`: "127.0.0.1:8080", "[::1]:8080", "localhost:8080"; port 0 is any.
// "[::]:8080" takes IPv4, too, whose peers are then to be read by plain_address().
// invalid_argument for what is no address, unavailable for one that cannot be had.
Status listen_on(boost::asio::ip::tcp::acceptor& acceptor, const std::string& address);

}  // namespace hai
