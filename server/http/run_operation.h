#pragma once
// Runs an operation for a request of HTTP and answers with its reply.

#include <memory>
#include <utility>

#include "proto/json/json_writer.h"
#include "server/api/audit_words.h"
#include "server/api/call_queue.h"
#include "server/api/caller_board.h"
#include "server/api/operations.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

struct AnswerForm {
  int status = 0;  // 0 = 200, or 204 if the reply has no fields
  JsonFilter filter = {};
  std::string location = {};  // of what was made; "" = nothing was
};

template <typename Reply>
HttpResponse message_response(const Reply& reply, const AnswerForm& form) {
  if (Reply::descriptor()->field_count() == 0) return {.status = 204};
  HttpResponse response{.status = form.status == 0 ? 200 : form.status,
                        .body = to_json_text(reply, form.filter) + "\n"};
  if (!form.location.empty()) response.headers.emplace_back("Location", form.location);
  return response;
}

// On the loop's thread. The reply is written on the HTTP server's. `facts`: what it is to tell the
// audit log of; null = nothing.
template <typename Reply>
Answer<Reply> respond_with(HttpRespond respond, AnswerForm form = {},
                           std::shared_ptr<AuditFacts> facts = nullptr) {
  return [respond = std::move(respond), form = std::move(form),
          facts = std::move(facts)](Result<Fill<Reply>> fill) {
    if (!fill.is_ok()) return respond(problem(fill.status()));
    if constexpr (audit::kTellsMore<Reply>) {
      if (facts != nullptr) {
        Reply reply;
        fill.value()(reply);
        tell_reply(reply, *facts);
      }
    }
    auto shared = std::make_shared<const Fill<Reply>>(std::move(fill).value());
    respond({.render = [shared, form] {
      Reply reply;
      (*shared)(reply);
      return message_response(reply, form);
    }});
  };
}

// From any thread: `answer` gets the outcome on the loop's.
template <typename Reply>
void run_prepared(const HttpParts& parts, const Caller& caller, Prepared<Reply> prepared,
                  const HttpRespond& respond, Answer<Reply> answer) {
  if (!prepared.is_ok()) return respond(problem(prepared.status()));
  parts.queue.post(parts.callers.user_of(caller),
                   [caller, go = std::move(prepared).value(),
                    answer = std::move(answer)]() mutable { go(caller, std::move(answer)); });
}

template <typename Reply>
void run_operation(const HttpParts& parts, const Caller& caller, Prepared<Reply> prepared,
                   const HttpRespond& respond, AnswerForm form = {},
                   std::shared_ptr<AuditFacts> facts = nullptr) {
  run_prepared(parts, caller, std::move(prepared), respond,
               respond_with<Reply>(respond, std::move(form), std::move(facts)));
}

}  // namespace hai
