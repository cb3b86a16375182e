#pragma once
// What the routes share: who calls, numbers of the query, and answers.

#include <memory>
#include <optional>

#include "common/config/field_error.h"
#include "common/loop.h"
#include "server/api/source.h"
#include "server/control/command.h"
#include "server/http/http_message.h"
#include "server/http/problem.h"

namespace hai {

struct HttpParts;

// Whose token came with the request: in Authorization, else in the cookie of a session. The cookie
// counts for what changes something only with the header that check_csrf() asks for.
Caller caller_of(const HttpRequest& request);
// Whether a page of this port asks, or nobody who says where he is from. The browser adds the
// cookie whichever page asks.
bool is_from_here(const HttpRequest& request);
// permission_denied for a request that changes something and that a browser may have been made to
// send by another page: it has the cookie of a session, and not the header that goes with it.
Status check_csrf(const HttpRequest& request);

// The cookie of a session: its secret; "" = none.
inline constexpr std::string_view kSessionCookie = "hai_session";
std::string_view session_cookie(const HttpRequest& request);

// invalid_argument with all errors of a spec, as text and one by one.
HttpResponse spec_problem(const std::vector<FieldError>& errors);
HttpResponse text_response(std::string text, std::string content_type = "text/plain");

// Answers with the pieces of a source as they come. Source and answers live on the loop's thread,
// the HTTP server asks from its own.
HttpStream stream_of(const HttpParts& parts, const Caller& caller, Source<std::string> source);

}  // namespace hai
