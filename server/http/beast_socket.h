#pragma once
// HttpSocket over a connection of http_session.cpp, the only one who includes this.

#include <boost/asio/io_context.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>

#include "server/http/client_stream.h"
#include "server/http/http_session.h"
#include "server/http/http_socket.h"

namespace hai {

// Answers a request for a WebSocket over `stream`, a part of `session`, which is kept until the
// connection is gone. `opened` gets the socket, on the session's thread, if the client was taken.
void accept_socket(std::shared_ptr<boost::asio::io_context> context,
                   std::shared_ptr<HttpSession> session, ClientStream& stream,
                   boost::beast::http::request<boost::beast::http::string_body> request,
                   std::function<void(std::shared_ptr<HttpSocket>)> opened);

}  // namespace hai
