#include "common/tcp_listen.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/v6_only.hpp>

namespace hai {
namespace {

using boost::asio::ip::tcp;

Result<tcp::endpoint> resolve(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return invalid_argument("{} is not host:port", address);
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  boost::system::error_code error;
  boost::asio::io_context context;
  tcp::resolver resolver(context);
  const auto found =
      resolver.resolve(host, address.substr(colon + 1),
                       tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty()) {
    return invalid_argument("cannot resolve {}: {}", address, error.message());
  }
  return found.begin()->endpoint();
}

}  // namespace

Status listen_on(tcp::acceptor& acceptor, const std::string& address) {
  Result<tcp::endpoint> endpoint = resolve(address);
  if (!endpoint.is_ok()) return endpoint.status();
  boost::system::error_code error;
  acceptor.open(endpoint.value().protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && endpoint.value().protocol() == tcp::v6()) {
    // Whatever net.ipv6.bindv6only says; a system that does not have it listens to IPv6 alone.
    boost::system::error_code ignored;
    acceptor.set_option(boost::asio::ip::v6_only(false), ignored);
  }
  if (!error) acceptor.bind(endpoint.value(), error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error) return unavailable("cannot listen on {}: {}", address, error.message());
  return ok();
}

}  // namespace hai
