#pragma once
// Every call of the Api, over HTTP and gRPC, asked by everybody: the examples, how they are asked,
// and what the contract's options (proto/hai/v1/api.proto) let each of them do. A call without an
// example here fails.

#include <grpcpp/create_channel.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/security/credentials.h>

#include <future>
#include <map>
#include <optional>
#include <set>

#include "common/spec/job_spec_yaml.h"
#include "hai/v1/api.grpc.pb.h"
#include "proto/convert/spec_convert.h"
#include "proto/json/call_options.h"
#include "proto/json/json_reader.h"
#include "proto/json/json_writer.h"
#include "server/auth/token.h"
#include "server/control/verbs/decide.h"
#include "tests/unit/http/routes_fixture.h"

namespace hai {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using nlohmann::ordered_json;

enum class Outcome { let_in, denied, unknown };  // unknown: who he is

constexpr std::string_view word_of(Outcome outcome) {
  constexpr std::string_view kWords[] = {"let in", "denied", "unknown"};
  return kWords[static_cast<int>(outcome)];
}

// ---- what is expected ---------------------------------------------------------------------------

struct Who {
  std::string name;
  Role role = Role::user;
  bool is_owner = false;  // of the job that is asked about
  std::vector<std::string> groups = {};
};
inline const std::vector<Who> kPeople = {{.name = "bob"},
                                         {.name = "ann", .is_owner = true},
                                         {.name = "olga", .role = Role::operator_},
                                         {.name = LiveServer::kAdmin, .role = Role::admin}};
inline const std::vector<TokenScope> kScopes = {TokenScope::read, TokenScope::submit,
                                                TokenScope::operate, TokenScope::admin};

// Posted, since what is asked does not fit into an address, but nothing is changed.
inline const std::set<std::string> kOnlyThink = {"DryRunJob", "WhatIf"};
// Whoever has a session may end it.
inline const std::set<std::string> kOfAnyScope = {"SignOut"};

// The first is the one that is told; those behind it are earlier names of it.
inline std::vector<v1::Route> routes_of(const MethodDescriptor& call) {
  std::vector<v1::Route> routes;
  for (int i = 0; i < call.options().ExtensionSize(v1::route); ++i)
    routes.push_back(call.options().GetExtension(v1::route, i));
  return routes;
}

inline std::optional<v1::Route> route_of(const MethodDescriptor& call) {
  const std::vector<v1::Route> routes = routes_of(call);
  return routes.empty() ? std::nullopt : std::optional(routes.front());
}

// Calls without a route are for users.
inline std::string role_needed(const MethodDescriptor& call) {
  const auto route = route_of(call);
  return route ? route->role() : "user";
}

inline bool changes(const MethodDescriptor& call) {
  if (kOnlyThink.contains(call.name()) || kOfAnyScope.contains(call.name())) return false;
  const auto route = route_of(call);
  if (!route) return call.options().GetExtension(v1::is_submit);
  return pattern_of(*route).method != std::string_view("GET");
}

inline Role within(Role role, TokenScope scope) {
  if (scope == TokenScope::admin) return role;
  return scope == TokenScope::operate ? std::min(role, Role::operator_) : Role::user;
}

inline Outcome expected(const MethodDescriptor& call, const Who& who, TokenScope scope) {
  const std::string needed = role_needed(call);
  if (needed == "anyone") return Outcome::let_in;
  if (scope == TokenScope::read && changes(call)) return Outcome::denied;
  const Role role = within(who.role, scope);
  const std::map<std::string, bool> may = {
      {"user", true},
      {"owner", who.is_owner || role >= Role::operator_},
      {"operator", role >= Role::operator_},
      {"admin", role == Role::admin},
  };
  const auto found = may.find(needed);
  EXPECT_NE(found, may.end()) << call.name() << " has the role " << needed;
  return found != may.end() && found->second ? Outcome::let_in : Outcome::denied;
}

// ---- what is asked ------------------------------------------------------------------------------

// The request as REST has it; {id} stands for the job of ann, {token} for a token of who asks.
inline const std::map<std::string, std::string> kExamples = {
    {"SubmitJob", "{}"},
    {"SubmitJobs", "{}"},
    {"DryRunJob", "{}"},
    {"GetJob", R"({"id": "{id}"})"},
    {"GetJobSpec", R"({"id": "{id}"})"},
    {"ListJobs", "{}"},
    {"ListAttempts", R"({"id": "{id}"})"},
    {"ListCheckpoints", R"({"id": "{id}"})"},
    {"GetProgress", R"({"id": "{id}"})"},
    {"ControlJob", R"({"verb": "hold", "jobs": ["{id}"], "reason": "r"})"},
    {"SetJobPriority", R"({"id": "{id}", "priority": "low"})"},
    {"MoveJob", R"({"id": "{id}", "first": true})"},
    {"EditJob", R"({"id": "{id}", "timeout": "2h"})"},
    {"RerunJob", R"({"id": "{id}"})"},
    {"WhyJob", R"({"id": "{id}"})"},
    {"WhatIf", "{}"},
    {"ReadLog", R"({"id": "{id}"})"},
    {"SearchLog", R"({"id": "{id}", "text": "x"})"},
    {"WatchJob", R"({"job": "{id}"})"},
    {"WatchEvents", "{}"},
    {"ListEvents", R"({"id": "{id}"})"},
    {"ListNodes", "{}"},
    {"GetNode", R"({"name": "n1"})"},
    {"ListNodeJobs", R"({"name": "n1"})"},
    {"ControlNode", R"({"verb": "undrain", "nodes": ["n1"]})"},
    {"GetCluster", "{}"},
    {"GetClusterSeries", "{}"},
    {"GetHistory", "{}"},
    {"GetQueue", "{}"},
    {"GetJobUsage", R"({"id": "{id}"})"},
    {"ListIncidents", "{}"},
    {"CloseIncident", R"({"id": 77, "reason": "r"})"},
    {"GetDigest", "{}"},
    {"WhoAmI", "{}"},
    {"ListQuotas", "{}"},
    {"SetQuota", R"({"owner": "ann", "group": "training", "priority": "high", "nodes": 3})"},
    {"DeleteQuota", R"({"owner": "ann", "group": "training", "priority": "high"})"},
    {"ListUsers", "{}"},
    {"SetUser", R"({"name": "cleo", "role": "user"})"},
    {"RemoveUser", R"({"name": "cleo"})"},
    {"ListKnobs", "{}"},
    {"SetKnob", R"({"name": "plan_gap", "value": "5ms"})"},
    {"UnsetKnob", R"({"name": "plan_gap"})"},
    {"CreateToken", R"({"label": "l"})"},
    {"ListTokens", "{}"},
    {"RevokeToken", R"({"id": "{token}"})"},
    {"SignOut", "{}"},
    {"ListSecrets", "{}"},
    {"SetSecret", R"({"name": "s", "value": "v"})"},
    {"DeleteSecret", R"({"name": "s"})"},
    {"CreateJoinToken", R"({"nodes": "node-[1-4]"})"},
    {"ListJoinTokens", "{}"},
    {"RevokeJoinToken", R"({"id": "0123456789ab"})"},
    {"ListNodeIdentities", "{}"},
    {"RevokeNodeIdentity", R"({"name": "n9"})"},
    {"ListAudit", "{}"},
};

inline const google::protobuf::ServiceDescriptor& api() {
  return *v1::GetJobRequest::descriptor()->file()->FindServiceByName("Api");
}

// What came back: who was refused as a whole or thing by thing, and the words.
struct Asked {
  Outcome outcome = Outcome::let_in;
  bool is_built = true;  // false: this server does not do that, for nobody
  std::string words;
};

class Access : public RoutesFixture {
 protected:
  static inline const std::string kJobName = "job-of-ann";
  // In each field of ann's job that says what it runs.
  static inline const std::string kProgramWord = "word-of-her-program";

  explicit Access(const std::vector<Who>& people = kPeople, Visibility visibility = Visibility::all)
      : RoutesFixture([visibility](ServerConfig& config, ServingSecrets&) {
          config.visibility = visibility;
        }) {
    for (const Who& who : people) {
      command(SetUser{{.name = who.name, .role = who.role, .groups = who.groups}});
      for (const TokenScope scope : kScopes) {
        add_token(secret_of(who, scope), {.user = who.name, .scope = scope});
      }
    }
    job_ = job_of_ann();
  }

  static std::string secret_of(const Who& who, TokenScope scope) {
    return fmt::format("hai_{}_{}", who.name, to_string(scope));
  }

  void command(Command command) {
    const Status status = outcome_of(std::move(command));
    EXPECT_TRUE(status.is_ok()) << status.message();
  }
  Status outcome_of(Command command) {
    std::promise<Status> done;
    server_.on_loop([&] {
      server_.controller().submit(
          {.trusted_user = LiveServer::kAdmin}, std::move(command),
          [&](const Result<CommandReply>& reply) { done.set_value(reply.status()); });
    });
    return done.get_future().get();
  }
  void add_token(const std::string& secret, Token token) {
    token.hash = hash_token(secret);
    command(AddToken{token});
  }

  // On half of the node.
  static std::string job_with_words(const std::string& name) {
    JobSpec spec;
    std::vector<SpecError> errors;
    EXPECT_TRUE(parse_job_spec(yaml(name), &spec, &errors));
    spec.gpus_per_node = 4;
    spec.workspace += "/" + kProgramWord;
    spec.entrypoint = kProgramWord;
    spec.parameters = "--" + kProgramWord;
    spec.tags = {kProgramWord};
    spec.program.services = {"web:8888"};
    return format_job_spec_yaml(spec);
  }

  int64_t job_of_ann(const std::string& name = kJobName) {
    const std::string text = job_with_words(name);
    const Answer answer = ask("POST", "/api/v1/jobs", text, "", "hai_ann_admin");
    EXPECT_EQ(answer.status, 201) << answer.body;
    const int64_t id = answer.content().value("id", 0);
    EXPECT_TRUE(server_.eventually([id](Controller& controller) {
      return controller.state().find(JobId{id})->state == JobState::running;
    }));
    return id;
  }

  // A fresh token of somebody, to be revoked; its short id.
  std::string spare_token_of(const std::string& user) {
    const std::string secret = fmt::format("hai_spare_{}", ++spares_);
    add_token(secret, {.user = user, .scope = TokenScope::read});  // a wider one ends it, too
    return hash_token(secret).substr(0, 12);
  }

  ordered_json example(const MethodDescriptor& call, const std::string& user) {
    const auto found = kExamples.find(call.name());
    EXPECT_NE(found, kExamples.end()) << call.name() << " has no example here";
    std::string text = found == kExamples.end() ? "{}" : found->second;
    const auto put_in = [&](std::string_view place, const std::string& value) {
      const size_t at = text.find(place);
      if (at != std::string::npos) text.replace(at, place.size(), value);
    };
    put_in("{id}", std::to_string(job_));
    if (text.find("{token}") != std::string::npos) put_in("{token}", spare_token_of(user));
    return ordered_json::parse(text);
  }

  static void fill_spec(v1::JobSpec& message, const std::string& name) {
    JobSpec spec;
    std::vector<SpecError> errors;
    EXPECT_TRUE(parse_job_spec(yaml(name), &spec, &errors));
    message = to_proto(spec);
  }
  std::string next_name() { return fmt::format("job-{}", ++jobs_); }

  // ---- over HTTP

  std::string body_of(const MethodDescriptor& call, const ordered_json& body) {
    if (call.name() == "SubmitJob" || call.name() == "DryRunJob") return yaml(next_name());
    if (call.name() == "WhatIf") return R"({"drain": ["n1"]})";
    return body.dump();
  }

  Asked ask_http(const MethodDescriptor& call, ordered_json body, const std::string& token,
                 std::optional<v1::Route> route = std::nullopt) {
    const RoutePattern pattern = pattern_of(route ? *route : *route_of(call));
    std::string path = pattern.path;
    for (const std::string& name : names_in(pattern.path)) {
      const ordered_json& value = body[name];
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      path.replace(path.find("{" + name + "}"), name.size() + 2, text);
      body.erase(name);
    }
    const bool has_body =
        pattern.method == std::string_view("POST") || pattern.method == std::string_view("PUT");
    if (call.name() == "WatchEvents") path += "?format=list";
    if (call.name() == "SearchLog") path += "?text=x";
    const Answer answer = ask(pattern.method, path, has_body ? body_of(call, body) : "", "", token);
    const bool is_served = answer.body.find("nothing is served") == std::string::npos;
    Asked asked{.is_built = is_served && answer.status != 501 && answer.status != 503,
                .words = fmt::format("{} {}", answer.status, answer.body)};
    // Of several things each is refused by itself.
    const bool is_refused = answer.status == 403 || (answer.status == 200 && is_of_several(call) &&
                                                     says_denied(answer.body));
    if (is_refused) asked.outcome = Outcome::denied;
    if (answer.status == 401) asked.outcome = Outcome::unknown;
    EXPECT_NE(answer.status, 0) << call.name() << " is not answered";
    EXPECT_NE(answer.status, 500) << call.name() << " " << answer.body;
    return asked;
  }

  // ---- over gRPC

  static bool is_of_several(const MethodDescriptor& call) {
    return call.name() == "ControlJob" || call.name() == "ControlNode" ||
           call.name() == "SubmitJobs";
  }
  static bool says_denied(const std::string& text) {
    return text.find("permission_denied") != std::string::npos;
  }
  static Asked asked_of(const grpc::Status& status) {
    EXPECT_NE(status.error_code(), grpc::StatusCode::INTERNAL) << status.error_message();
    EXPECT_NE(status.error_code(), grpc::StatusCode::UNKNOWN) << status.error_message();
    Asked asked{.is_built = status.error_code() != grpc::StatusCode::UNIMPLEMENTED &&
                            status.error_code() != grpc::StatusCode::UNAVAILABLE,
                .words = fmt::format("{} {}", static_cast<int>(status.error_code()),
                                     status.error_message())};
    if (status.error_code() == grpc::StatusCode::PERMISSION_DENIED) asked.outcome = Outcome::denied;
    if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED) asked.outcome = Outcome::unknown;
    return asked;
  }
  static void show(grpc::ClientContext& context, const std::string& token) {
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  }

  std::unique_ptr<Message> message_of(const MethodDescriptor& call, const ordered_json& body) {
    auto* factory = google::protobuf::MessageFactory::generated_factory();
    std::unique_ptr<Message> message(factory->GetPrototype(call.input_type())->New());
    if (auto* submit = dynamic_cast<v1::SubmitJobRequest*>(message.get())) {
      fill_spec(*submit->mutable_spec(), next_name());
    } else if (auto* several = dynamic_cast<v1::SubmitJobsRequest*>(message.get())) {
      fill_spec(*several->add_jobs()->mutable_spec(), next_name());
    } else if (auto* dry_run = dynamic_cast<v1::DryRunJobRequest*>(message.get())) {
      fill_spec(*dry_run->mutable_spec(), next_name());
    } else if (auto* what_if = dynamic_cast<v1::WhatIfRequest*>(message.get())) {
      what_if->mutable_drain()->add_nodes("n1");
    } else {
      const Status status = read_object(body, {}, *message);
      EXPECT_TRUE(status.is_ok()) << call.name() << " " << status.message();
    }
    return message;
  }

  // The first message of a stream says whether he was let in.
  template <typename Reply>
  static Asked first_of(grpc::ClientContext& context,
                        std::unique_ptr<grpc::ClientReader<Reply>> reader) {
    Reply reply;
    const bool has_come = reader->Read(&reply);
    if (has_come) context.TryCancel();
    const grpc::Status status = reader->Finish();
    return has_come ? Asked{.words = to_json_text(reply)} : asked_of(status);
  }

  Asked ask_stream(const MethodDescriptor& call, const Message& request, const std::string& token) {
    const auto stub = v1::Api::NewStub(channel_);
    grpc::ClientContext context;
    show(context, token);
    if (call.name() == "ReadLog") {
      return first_of(context,
                      stub->ReadLog(&context, static_cast<const v1::ReadLogRequest&>(request)));
    }
    if (call.name() == "WatchJob") {
      return first_of(context,
                      stub->WatchJob(&context, static_cast<const v1::WatchJobRequest&>(request)));
    }
    EXPECT_EQ(call.name(), "WatchEvents") << "a stream that is not known here";
    return first_of(
        context, stub->WatchEvents(&context, static_cast<const v1::WatchEventsRequest&>(request)));
  }

  Asked ask_grpc(const MethodDescriptor& call, const ordered_json& body, const std::string& token) {
    const std::unique_ptr<Message> request = message_of(call, body);
    if (call.server_streaming()) return ask_stream(call, *request, token);
    auto* factory = google::protobuf::MessageFactory::generated_factory();
    const std::unique_ptr<Message> reply(factory->GetPrototype(call.output_type())->New());
    const std::string path = "/hai.v1.Api/" + call.name();
    const grpc::internal::RpcMethod method(path.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
    grpc::ClientContext context;
    show(context, token);
    const grpc::Status status =
        grpc::internal::BlockingUnaryCall<Message, Message, google::protobuf::MessageLite,
                                          google::protobuf::MessageLite>(
            channel_.get(), method, &context, *request, reply.get());
    Asked asked = asked_of(status);
    const std::string text = to_json_text(*reply);
    if (status.ok() && is_of_several(call) && says_denied(text)) asked.outcome = Outcome::denied;
    if (status.ok()) asked.words = text;
    return asked;
  }

  // ---- both

  void expect(const MethodDescriptor& call, const std::string& user, const std::string& token,
              Outcome outcome, const std::string& as) {
    const auto judge = [&](const Asked& asked, const char* over) {
      // Who would be let in to what this server lacks gets nothing from it; who would not is
      // refused before that is looked at.
      if (!asked.is_built && outcome == Outcome::let_in) {
        lacking_.insert(call.name());
        return;
      }
      ++asked_;
      EXPECT_EQ(word_of(asked.outcome), word_of(outcome))
          << as << " asks " << call.name() << " over " << over << ": " << asked.words;
    };
    for (const v1::Route& route : routes_of(call))
      judge(ask_http(call, example(call, user), token, route), "HTTP");
    judge(ask_grpc(call, example(call, user), token), "gRPC");
  }

  int64_t last_seq() {
    int64_t seq = 0;
    server_.on_loop([&] { seq = server_.controller().state().last_seq(); });
    return seq;
  }

  int64_t job_ = 0;
  int jobs_ = 0;
  int spares_ = 0;
  int asked_ = 0;
  std::set<std::string> lacking_;  // calls for which the server has no part
  const std::shared_ptr<grpc::Channel> channel_ =
      grpc::CreateChannel(server_.grpc_address(), grpc::InsecureChannelCredentials());
};

}  // namespace hai
