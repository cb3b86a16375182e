// /api/v1/jobs

#include <nlohmann/json.hpp>

#include "common/spec/job_spec_yaml.h"
#include "server/api/actions.h"
#include "server/api/log_tail.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

constexpr size_t kRequestIdBytesMax = 128;
constexpr size_t kSearchBytesMax = 200;

Status check_reason(const std::string& text) {
  std::string known;
  for (int i = 0; i <= static_cast<int>(PendingCode::not_considered); ++i) {
    const std::string_view word = to_string(static_cast<PendingCode>(i));
    if (word == text) return ok();
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return invalid_argument("reason: {} is none of {}", text.substr(0, 100), known);
}

// A cursor belongs to the order it came with.
Status read_order(const HttpRequest& request, JobListRequest& list) {
  if (const std::string_view sort = request.query_value("sort"); !sort.empty()) {
    Result<JobOrder> order = parse_job_order(sort);
    if (!order.is_ok()) return order.status();
    list.order = order.value();
  }
  const std::string_view cursor = request.query_value("cursor");
  if (list.order.is_newest_first()) {
    Result<int64_t> before = query_integer(request, "cursor", 0);
    if (!before.is_ok()) return before.status();
    list.before = JobId{std::max<int64_t>(before.value(), 0)};
  } else if (!cursor.empty()) {
    Result<JobPlace> place = parse_place(cursor);
    if (!place.is_ok()) return place.status();
    list.after = place.value();
  }
  return ok();
}

Result<JobListRequest> list_request(const HttpRequest& request) {
  JobListRequest list{.user = std::string(request.query_value("user")),
                      .group = std::string(request.query_value("group")),
                      .tags = request.query_values("tag")};
  for (const std::string& text : request.query_values("state")) {
    const std::optional<JobState> state = parse_enum<JobState>(text);
    if (!state) {
      return invalid_argument(
          "state: {} is none of queued, running, suspended, succeeded, failed, stopped", text);
    }
    list.states.push_back(*state);
  }
  for (const std::string& text : request.query_values("priority")) {
    Result<Priority> priority = parse_priority(text);
    if (!priority.is_ok()) return priority.status();
    list.priorities.push_back(priority.value());
  }
  list.reasons = request.query_values("reason");
  for (const std::string& reason : list.reasons) RETURN_IF_ERROR(check_reason(reason));
  list.text = request.query_value("q");
  if (list.text.size() > kSearchBytesMax) {
    return invalid_argument("q: has {} bytes, allowed is {}", list.text.size(), kSearchBytesMax);
  }
  Result<bool> total = query_boolean(request, "total");
  if (!total.is_ok()) return total.status();
  Result<int> limit = query_limit(request, kPageDefault, kPageMax);
  if (!limit.is_ok()) return limit.status();
  Result<bool> finished = query_boolean(request, "finished");
  if (!finished.is_ok()) return finished.status();
  list.count_all = total.value();
  list.limit = limit.value();
  list.include_finished = finished.value();
  RETURN_IF_ERROR(read_order(request, list));
  return list;
}

HttpResponse format_page(const JobPage& page, const std::vector<std::string>& fields) {
  Json jobs = Json::array();
  for (const JobView& job : page.jobs) jobs.push_back(only(to_json(job), fields));
  Json cursor;
  if (page.next) {
    cursor = std::to_string(page.next.value);
  } else if (page.after) {
    cursor = format_place(*page.after);
  }
  Json body = {{"jobs", std::move(jobs)}, {"next_cursor", std::move(cursor)}};
  if (page.total) body["total"] = *page.total;
  return json_response(body);
}

void list_jobs(const HttpParts& parts, const HttpRequest& request, HttpRespond respond) {
  Result<JobListRequest> list = list_request(request);
  if (!list.is_ok()) return respond(problem(list.status()));
  Result<std::vector<std::string>> fields = fields_of(request);
  if (!fields.is_ok()) return respond(problem(fields.status()));
  parts.loop.post(
      [&parts, caller = caller_of(request), list = list.value(), fields = fields.value(), respond] {
        parts.queries.list_jobs(caller, list,
                                respond_with<JobPage>(respond, [fields](const JobPage& page) {
                                  return format_page(page, fields);
                                }));
      });
}

void respond_with_job(const HttpParts& parts, const Caller& caller, const std::string& job,
                      HttpRespond respond, int status) {
  parts.queries.get_job(caller, job, respond_with<JobView>(respond, [status](const JobView& view) {
                          HttpResponse response = json_response(to_json(view), status);
                          if (status == 201) {
                            response.headers.emplace_back("Location",
                                                          fmt::format("/api/v1/jobs/{}", view.id));
                          }
                          return response;
                        }));
}

// The body is the YAML of design §3, or the same as JSON, which YAML contains.
void submit_job(const HttpParts& parts, const HttpRequest& request, HttpRespond respond) {
  Submission submission{.request_id = std::string(request.header("idempotency-key"))};
  if (submission.request_id.size() > kRequestIdBytesMax) {
    return respond(problem(invalid_argument("Idempotency-Key has {} bytes, allowed is {}",
                                            submission.request_id.size(), kRequestIdBytesMax)));
  }
  std::vector<SpecError> errors;
  if (!parse_job_spec(request.body, &submission.spec, &errors)) {
    return respond(spec_problem(errors));
  }
  parts.loop.post([&parts, caller = caller_of(request), submission, respond] {
    parts.actions.submit_job(
        caller, submission, [&parts, caller, respond](Result<CommandReply> reply) {
          if (!reply.is_ok()) return respond(problem(reply.status()));
          respond_with_job(parts, caller, std::to_string(reply.value().job.value), respond, 201);
        });
  });
}

void control_job(const HttpParts& parts, JobVerb verb, const HttpRequest& request,
                 const std::string& job, HttpRespond respond) {
  Result<std::string> reason = reason_of(request);
  if (!reason.is_ok()) return respond(problem(reason.status()));
  parts.loop.post(
      [&parts, caller = caller_of(request), verb, job, reason = reason.value(), respond] {
        parts.actions.control_jobs(
            caller, {job}, verb, reason,
            [&parts, caller, respond](Result<std::vector<ActionResult>> results) {
              if (!results.is_ok()) return respond(problem(results.status()));
              const ActionResult& result = results.value().front();
              if (!result.status.is_ok()) return respond(problem(result.status));
              respond_with_job(parts, caller, std::to_string(result.job.value), respond, 200);
            });
      });
}

HttpResponse format_attempts(const std::vector<AttemptView>& attempts) {
  Json items = Json::array();
  for (const AttemptView& attempt : attempts) items.push_back(to_json(attempt));
  return list_response("attempts", std::move(items), {});
}

Result<LogTailRequest> log_request(const HttpRequest& request, const std::string& job) {
  LogTailRequest tail{.job = job};
  Result<int64_t> rank = query_integer(request, "rank", 0);
  if (!rank.is_ok()) return rank.status();
  Result<int64_t> attempt = query_integer(request, "attempt", 0);
  if (!attempt.is_ok()) return attempt.status();
  Result<int64_t> offset = query_integer(request, "offset", 0);
  if (!offset.is_ok()) return offset.status();
  Result<int64_t> tail_bytes = query_integer(request, "tail_bytes", 0);
  if (!tail_bytes.is_ok()) return tail_bytes.status();
  Result<bool> follow = query_boolean(request, "follow");
  if (!follow.is_ok()) return follow.status();
  tail.rank = static_cast<int>(std::clamp<int64_t>(rank.value(), -1, 1'000'000));
  tail.attempt = static_cast<int>(std::clamp<int64_t>(attempt.value(), 0, 1'000'000'000));
  tail.offset = offset.value();
  tail.tail_bytes = tail_bytes.value();
  tail.follow = follow.value();
  // A reader who follows a log that is still empty is to know at once that it is there.
  tail.announce = follow.value();
  return tail;
}

// The first piece decides between an error and an answer; the rest is streamed.
void read_log(const HttpParts& parts, const HttpRequest& request, const std::string& job,
              HttpRespond respond) {
  Result<LogTailRequest> tail = log_request(request, job);
  if (!tail.is_ok()) return respond(problem(tail.status()));
  parts.loop.post([&parts, caller = caller_of(request), tail = tail.value(), respond] {
    auto source = std::make_shared<Source<LogPiece>>(
        tail_log(parts.loop, parts.queries, parts.logs, caller, tail));
    (*source)([&parts, source, respond](Result<std::optional<LogPiece>> first) {
      if (!first.is_ok()) return respond(problem(first.status()));
      HttpResponse response = text_response(first.value() ? first.value()->data : "");
      response.stream = stream_of(parts.loop, [source](Done<std::optional<std::string>> done) {
        (*source)([done](Result<std::optional<LogPiece>> piece) {
          if (!piece.is_ok()) return done(piece.status());
          if (!piece.value()) return done(std::optional<std::string>());
          done(std::optional(std::move(piece.value()->data)));
        });
      });
      respond(std::move(response));
    });
  });
}

}  // namespace

void add_job_routes(HttpRouter& router, const HttpParts& parts) {
  const auto on_job = [&](std::string_view method, std::string_view path, auto handler) {
    router.add(method, path,
               [&parts, handler](const HttpRequest& request, const Parameters& parameters,
                                 HttpRespond respond) {
                 handler(parts, request, parameters.at("id"), std::move(respond));
               });
  };
  router.add("GET", "/api/v1/jobs",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               list_jobs(parts, request, std::move(respond));
             });
  router.add("POST", "/api/v1/jobs",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               submit_job(parts, request, std::move(respond));
             });
  on_job("GET", "/api/v1/jobs/{id}",
         [](const HttpParts& parts, const HttpRequest& request, const std::string& job,
            HttpRespond respond) {
           parts.loop.post([&parts, caller = caller_of(request), job, respond] {
             respond_with_job(parts, caller, job, respond, 200);
           });
         });
  on_job("GET", "/api/v1/jobs/{id}/attempts",
         [](const HttpParts& parts, const HttpRequest& request, const std::string& job,
            HttpRespond respond) {
           parts.loop.post([&parts, caller = caller_of(request), job, respond] {
             parts.queries.list_attempts(
                 caller, job, kPageMax,
                 respond_with<std::vector<AttemptView>>(respond, format_attempts));
           });
         });
  on_job("GET", "/api/v1/jobs/{id}/logs", read_log);
  for (const auto& [word, verb] : kJobVerbs) {
    on_job("POST", fmt::format("/api/v1/jobs/{{id}}/{}", word),
           [verb = verb](const HttpParts& parts, const HttpRequest& request, const std::string& job,
                         HttpRespond respond) { control_job(parts, verb, request, job, respond); });
  }
}

}  // namespace hai
