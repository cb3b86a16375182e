// POST /api/v1/jobs/{id}/stop and so on, /api/v1/nodes/{name}/drain and so on: a verb for one,
// answered with what it was done to. Of many at once, each with its own result:
// /api/v1/jobs/actions.

#include "proto/json/call_options.h"
#include "proto/json/json_plan.h"
#include "proto/json/json_reader.h"
#include "server/http/routes.h"
#include "server/http/run_operation.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

// The one result of a verb for one thing, or why there is none.
template <typename Reply>
Result<v1::ControlResult> result_of(Result<Fill<Reply>> fill) {
  if (!fill.is_ok()) return fill.status();
  Reply reply;
  fill.value()(reply);
  // The path names one; a host list would have more.
  if (reply.results_size() != 1) return invalid_argument("name one node, not a list");
  const v1::ControlResult& result = reply.results(0);
  if (result.code() != v1::CODE_OK) {
    return Status(static_cast<Code>(result.code()), result.message());
  }
  return result;
}

// Of an enumeration of verbs; and what stands in the path, or goes with other verbs.
struct Verb {
  int number;
  std::string word;
  std::set<std::string> taken;
};

void control_job(const HttpParts& parts, const Verb& verb, const HttpRequest& http,
                 const std::string& job, const HttpRespond& respond) {
  v1::ControlJobRequest request;
  request.add_jobs(job);
  request.set_action(static_cast<v1::JobAction>(verb.number));
  const Status read = read_json(http.body, verb.taken, request);
  tell_request(request, *http.facts);
  if (!read.is_ok()) return respond(problem(read));
  run_prepared<v1::ControlJobReply>(
      parts, caller_of(http), parts.operations.ControlJob(request), respond,
      [&parts, caller = caller_of(http), respond](Result<Fill<v1::ControlJobReply>> fill) {
        Result<v1::ControlResult> result = result_of(std::move(fill));
        if (!result.is_ok()) return respond(problem(result.status()));
        v1::GetJobRequest then;
        then.set_job(std::to_string(result.value().job_id()));
        run_operation(parts, caller, parts.operations.GetJob(then), respond);
      });
}

void control_node(const HttpParts& parts, const Verb& verb, const HttpRequest& http,
                  const std::string& node, const HttpRespond& respond) {
  v1::ControlNodeRequest request;
  request.add_nodes(node);
  request.set_action(static_cast<v1::NodeAction>(verb.number));
  const Status read = read_json(http.body, verb.taken, request);
  tell_request(request, *http.facts);
  if (!read.is_ok()) return respond(problem(read));
  run_prepared<v1::ControlNodeReply>(
      parts, caller_of(http), parts.operations.ControlNode(request), respond,
      [&parts, caller = caller_of(http), respond](Result<Fill<v1::ControlNodeReply>> fill) {
        Result<v1::ControlResult> result = result_of(std::move(fill));
        if (!result.is_ok()) return respond(problem(result.status()));
        v1::GetNodeRequest then;
        then.set_name(result.value().name());
        run_operation(parts, caller, parts.operations.GetNode(then), respond);
      });
}

// A route for each word but the first, which is nobody's.
template <typename Request, typename Handler>
void add_verbs(HttpRouter& router, const HttpParts& parts, const std::string& things,
               const std::string& path, const std::string& place, Handler handler) {
  const JsonField* verbs = json_plan_of(Request::descriptor()).find("verb");
  for (const auto& [number, word] : verbs->words) {
    if (number == 0) continue;
    Verb verb{number, word, taken_by_verb(Request::descriptor(), things, word)};
    router.add("POST", path + word,
               [&parts, handler, place, verb = std::move(verb)](
                   const HttpRequest& http, const Parameters& parameters, HttpRespond respond) {
                 handler(parts, verb, http, parameters.at(place), respond);
               });
  }
}

}  // namespace

void add_verb_routes(HttpRouter& router, const HttpParts& parts) {
  add_verbs<v1::ControlJobRequest>(router, parts, "jobs", "/api/v1/jobs/{id}/", "id", control_job);
  add_verbs<v1::ControlNodeRequest>(router, parts, "nodes", "/api/v1/nodes/{name}/", "name",
                                    control_node);
}

}  // namespace hai
