#pragma once
// What a head of HTTP says on the other side of the proxy for services. Included by
// service_session.cpp only.

#include <boost/beast/http.hpp>
#include <string>
#include <string_view>

#include "server/http/http_message.h"
#include "server/http/service_address.h"
#include "server/http/service_gate.h"

namespace hai {

using RequestHead = boost::beast::http::request_header<>;
using AnswerHead = boost::beast::http::response_header<>;

// What is passed on of a request; its target, too. `asked`: the same as values.
void mend_request(RequestHead& head, const HttpRequest& asked, const ServiceWay& way,
                  const ServicePlace& place, std::string_view scheme);
// And of an answer. `host`: what the client calls us.
void mend_answer(AnswerHead& head, std::string_view host, const ServicePlace& place);
// Of both, where they change to a WebSocket.
void set_upgrade(boost::beast::http::fields& fields);

// An answer of our own, after which the connection ends.
boost::beast::http::response<boost::beast::http::string_body> own_answer(HttpResponse response,
                                                                         bool is_for_head);

}  // namespace hai
