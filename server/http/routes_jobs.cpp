// Routes of jobs whose body is a job file, or whose answer is no JSON.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/spec/job_spec_yaml.h"
#include "proto/convert/spec_convert.h"
#include "proto/json/json_reader.h"
#include "server/api/log_tail.h"
#include "server/api/messages.h"
#include "server/api/open_streams.h"
#include "server/http/json.h"
#include "server/http/routes.h"
#include "server/http/run_operation.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

// A job file: YAML, or the same as JSON, which YAML contains. False: `respond` was told what is
// wrong.
bool read_job_file(const std::string& text, v1::JobSpec& out, const HttpRespond& respond) {
  JobSpec spec;
  std::vector<SpecError> errors;
  if (!parse_job_spec(text, &spec, &errors)) {
    respond(spec_problem(errors));
    return false;
  }
  out = to_proto(spec);
  return true;
}

void submit_job(const HttpParts& parts, const HttpRequest& http, const HttpRespond& respond) {
  v1::SubmitJobRequest request;
  request.set_request_id(std::string(http.header("idempotency-key")));
  if (!read_job_file(http.body, *request.mutable_spec(), respond)) return;
  tell_request(request, *http.facts);
  run_prepared<v1::SubmitJobReply>(
      parts, caller_of(http), parts.operations.SubmitJob(request), respond,
      [&parts, caller = caller_of(http), facts = http.facts,
       respond](Result<Fill<v1::SubmitJobReply>> fill) {
        if (!fill.is_ok()) return respond(problem(fill.status()));
        v1::SubmitJobReply reply;
        fill.value()(reply);
        tell_reply(reply, *facts);
        v1::GetJobRequest then;
        then.set_job(std::to_string(reply.job_id()));
        run_operation(parts, caller, parts.operations.GetJob(then), respond,
                      {.status = 201, .location = "/api/v1/jobs/" + then.job()});
      });
}

void dry_run_job(const HttpParts& parts, const HttpRequest& http, const HttpRespond& respond) {
  v1::DryRunJobRequest request;
  if (!read_job_file(http.body, *request.mutable_spec(), respond)) return;
  run_operation(parts, caller_of(http), parts.operations.DryRunJob(request), respond);
}

void show_spec(const HttpParts& parts, const HttpRequest& http, const std::string& job,
               const HttpRespond& respond) {
  v1::GetJobSpecRequest request;
  request.set_job(job);
  tell_request(request, *http.facts);
  run_prepared<v1::GetJobSpecReply>(
      parts, caller_of(http), parts.operations.GetJobSpec(request), respond,
      [respond](Result<Fill<v1::GetJobSpecReply>> fill) {
        if (!fill.is_ok()) return respond(problem(fill.status()));
        v1::GetJobSpecReply reply;
        fill.value()(reply);
        respond({.content_type = "application/yaml", .body = reply.yaml()});
      });
}

// An error of what stands under a key says so.
Status within(const std::string& key, const Status& status) {
  return status.is_ok() ? status : Status(status.code(), key + ": " + status.message());
}

constexpr std::string_view kChanges = "submit, drain, quota, priority, knob, user";

// {"submit": a job file as a text or an object} | {"drain": [nodes]} | {"quota": {…}} |
// {"priority": {…}} | {"knob": {…}} | {"user": {…}}
Status read_change(const std::string& body, v1::WhatIfRequest& request) {
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return invalid_argument("the body must be a JSON object");
  if (json.size() != 1) return invalid_argument("exactly one of {}", kChanges);
  const std::string key = json.begin().key();
  const Json& value = json.begin().value();
  if (key == "submit") {
    JobSpec spec;
    std::vector<SpecError> errors;
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (!parse_job_spec(text, &spec, &errors)) return to_status(errors);
    *request.mutable_submit() = to_proto(spec);
    return ok();
  }
  if (key == "drain") {
    const bool are_names = value.is_array() && std::ranges::all_of(value, [](const Json& name) {
                             return name.is_string();
                           });
    if (!are_names) return invalid_argument("drain: must be a list of names");
    for (const Json& name : value) request.mutable_drain()->add_nodes(name.get<std::string>());
    return ok();
  }
  if (key == "quota") return within(key, read_object(value, {}, *request.mutable_quota()));
  if (key == "priority") return within(key, read_object(value, {}, *request.mutable_priority()));
  if (key == "knob") return within(key, read_object(value, {}, *request.mutable_knob()));
  if (key == "user") return within(key, read_object(value, {}, *request.mutable_user()));
  return invalid_argument("{}: unknown key; known is: {}", key.substr(0, 100), kChanges);
}

void what_if(const HttpParts& parts, const HttpRequest& http, const HttpRespond& respond) {
  v1::WhatIfRequest request;
  if (Status status = check_json_depth(http.body); !status.is_ok()) {
    return respond(problem(status));
  }
  if (Status status = read_change(http.body, request); !status.is_ok()) {
    return respond(problem(status));
  }
  run_operation(parts, caller_of(http), parts.operations.WhatIf(request), respond);
}

Result<LogTailRequest> log_request(const HttpRequest& http, const std::string& job) {
  v1::ReadLogRequest request;
  for (const auto& [name, value] : http.query) {
    RETURN_IF_ERROR(read_parameter(name, value, request));
  }
  request.set_job(job);
  tell_request(request, *http.facts);
  Result<LogTailRequest> tail = log_tail_of(request);
  // A reader who follows a log that is still empty is to know at once that it is there.
  if (tail.is_ok()) tail.value().announce = request.follow();
  return tail;
}

// A log that is not read from its node says so, unless it is followed: then the answer begins
// before anything is known of it.
void add_source(const LogPiece& piece, HttpResponse& response) {
  if (!piece.source.empty()) response.headers.emplace_back("HAI-Log-Source", piece.source);
  if (piece.until) response.headers.emplace_back("HAI-Log-Until", format_rfc3339(*piece.until));
}

// Where the text that follows stands in the log, and how far that reaches.
void add_place(const LogPiece& piece, HttpResponse& response) {
  response.headers.emplace_back("HAI-Log-Offset", std::to_string(piece.offset));
  if (!piece.extent) return;
  response.headers.emplace_back("HAI-Log-Begin", std::to_string(piece.extent->begin));
  response.headers.emplace_back("HAI-Log-Size", std::to_string(piece.extent->size));
  response.headers.emplace_back("HAI-Log-Over", piece.extent->is_over ? "true" : "false");
}

// The first piece decides between an error and an answer; the rest is streamed.
void read_log(const HttpParts& parts, const HttpRequest& request, const std::string& job,
              const HttpRespond& respond) {
  Result<LogTailRequest> tail = log_request(request, job);
  if (!tail.is_ok()) return respond(problem(tail.status()));
  const std::string_view wanted = request.query_value("gzip");
  const bool is_gzip = wanted == "true" || wanted == "1";
  const Caller caller = caller_of(request);
  const std::string user = parts.callers.user_of(caller);
  parts.queue.post(user, [&parts, caller, tail = tail.value(), respond, is_gzip] {
    const auto kind = tail.follow ? OpenStreams::Kind::log : OpenStreams::Kind::other;
    auto source = std::make_shared<Source<LogPiece>>(GuardedSource<LogPiece>::make(
        parts.streams, caller, kind, tail_log(parts.loop, parts.queries, parts.logs, caller, tail),
        Sight{}));
    const bool follows = tail.follow;
    (*source)([&parts, caller, source, respond, follows,
               is_gzip](Result<std::optional<LogPiece>> first) {
      if (!first.is_ok()) return respond(problem(first.status()));
      HttpResponse response = text_response(first.value() ? first.value()->data : "");
      if (first.value()) add_source(*first.value(), response);
      if (first.value() && !follows) add_place(*first.value(), response);
      // A part of a log is answered as a whole.
      if (first.value() && first.value()->end && !is_gzip) return respond(std::move(response));
      response.is_chunked = true;
      response.is_gzip = is_gzip;
      if (is_gzip) response.content_type = "application/gzip";
      response.stream = stream_of(parts, caller, [source](Done<std::optional<std::string>> done) {
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
  using Handler = void (*)(const HttpParts&, const HttpRequest&, const HttpRespond&);
  for (const auto& [call, handler] : {std::pair<const char*, Handler>("SubmitJob", submit_job),
                                      {"DryRunJob", dry_run_job},
                                      {"WhatIf", what_if}}) {
    add_by_hand(
        router, call,
        [&parts, handler = handler](const HttpRequest& http, const Parameters&,
                                    HttpRespond respond) { handler(parts, http, respond); });
  }
  using OfJob =
      void (*)(const HttpParts&, const HttpRequest&, const std::string&, const HttpRespond&);
  for (const auto& [call, handler] :
       {std::pair<const char*, OfJob>("ReadLog", read_log), {"GetJobSpec", show_spec}}) {
    add_by_hand(router, call,
                [&parts, handler = handler](const HttpRequest& http, const Parameters& parameters,
                                            HttpRespond respond) {
                  handler(parts, http, parameters.at("id"), respond);
                });
  }
}

}  // namespace hai
