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

Caller caller_of(const HttpRequest& request);

// invalid_argument with all errors of a spec, as text and one by one.
HttpResponse spec_problem(const std::vector<FieldError>& errors);
HttpResponse text_response(std::string text, std::string content_type = "text/plain");

// Answers with the pieces of a source as they come. Source and answers live on the loop's thread,
// the HTTP server asks from its own.
HttpStream stream_of(Loop& loop, Source<std::string> source);

}  // namespace hai
