#pragma once
// One connection of somebody who uses services of jobs: each of its requests goes to the service as
// it comes, and so does the answer. Beast and Asio appear in service_session.cpp only.

#include "server/http/http_session.h"
#include "server/http/service_gate.h"

namespace hai {

std::shared_ptr<HttpSession> make_service_session(std::shared_ptr<boost::asio::io_context> context,
                                                  boost::asio::ip::tcp::socket socket,
                                                  ConnectionTls tls, const HttpLimits& limits,
                                                  const ServiceGate& gate,
                                                  HttpSessionEvents events);

}  // namespace hai
