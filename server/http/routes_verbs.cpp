// POST /api/v1/jobs/{id}/stop and so on, /api/v1/nodes/{name}/drain and so on: a verb for one,
// answered with what it was done to. Of many at once, each with its own result:
// /api/v1/jobs/actions.

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

void control_job(const HttpParts& parts, v1::JobAction action, const HttpRequest& http,
                 const std::string& job, const HttpRespond& respond) {
  v1::ControlJobRequest request;
  request.add_jobs(job);
  request.set_action(action);
  if (Status status = read_json(http.body, {"jobs", "verb"}, request); !status.is_ok()) {
    return respond(problem(status));
  }
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

void control_node(const HttpParts& parts, v1::NodeAction action, const HttpRequest& http,
                  const std::string& node, const HttpRespond& respond) {
  v1::ControlNodeRequest request;
  request.add_nodes(node);
  request.set_action(action);
  std::set<std::string> taken = {"nodes", "verb"};
  if (action != v1::NODE_ACTION_DRAIN) taken.insert("deadline");
  if (Status status = read_json(http.body, taken, request); !status.is_ok()) {
    return respond(problem(status));
  }
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

// Each word but the first, which is of nobody's.
template <typename Request, typename Add>
void for_each_verb(Add add) {
  const JsonField* verbs = json_plan_of(Request::descriptor()).find("verb");
  for (const auto& [number, word] : verbs->words) {
    if (number != 0) add(number, word);
  }
}

}  // namespace

void add_verb_routes(HttpRouter& router, const HttpParts& parts) {
  for_each_verb<v1::ControlJobRequest>([&](int number, const std::string& word) {
    router.add("POST", fmt::format("/api/v1/jobs/{{id}}/{}", word),
               [&parts, action = static_cast<v1::JobAction>(number)](
                   const HttpRequest& http, const Parameters& parameters, HttpRespond respond) {
                 control_job(parts, action, http, parameters.at("id"), respond);
               });
  });
  for_each_verb<v1::ControlNodeRequest>([&](int number, const std::string& word) {
    router.add("POST", fmt::format("/api/v1/nodes/{{name}}/{}", word),
               [&parts, action = static_cast<v1::NodeAction>(number)](
                   const HttpRequest& http, const Parameters& parameters, HttpRespond respond) {
                 control_node(parts, action, http, parameters.at("name"), respond);
               });
  });
}

}  // namespace hai
