// What the calls of the contract leave in the audit log, over HTTP and gRPC alike.

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <set>

#include "hai/v1/api.grpc.pb.h"
#include "proto/json/call_options.h"
#include "server/api/audit_trail.h"
#include "server/http/service_desk.h"
#include "tests/unit/http/routes_fixture.h"

namespace hai {
namespace {

class Audit : public RoutesFixture {
 protected:
  // Waits for an entry that `is_it`, after the first `before`.
  template <typename Predicate>
  std::optional<AuditEntry> find(Predicate is_it, size_t before = 0) {
    std::optional<AuditEntry> found;
    server_.eventually([&](Controller&) {
      const std::vector<AuditEntry> all = server_.audited();
      const auto it = std::find_if(all.begin() + static_cast<ptrdiff_t>(before), all.end(), is_it);
      if (it != all.end()) found = *it;
      return found.has_value() || ++looks_ > 2'000;
    });
    looks_ = 0;
    return found;
  }
  std::optional<AuditEntry> find(const std::string& user, const std::string& call,
                                 const std::string& result, const std::string& target = "") {
    return find([&](const AuditEntry& entry) {
      return entry.user == user && entry.call == call && entry.result == result &&
             (target.empty() || entry.target == target);
    });
  }

  // A request of the route that makes sense as far as its path; its body may not.
  Answer ask_route(const RoutePattern& pattern, const std::string& token) {
    static const std::map<std::string, std::string> kBodies = {
        {"POST /api/v1/jobs", yaml("of-audit")},
        {"POST /api/v1/jobs/actions", R"({"verb": "hold", "jobs": ["1"]})"},
        {"POST /api/v1/nodes/actions", R"({"verb": "undrain", "nodes": ["n1"]})"},
        {"PUT /api/v1/quotas/{owner}/{group}/{priority}", R"({"nodes": 3})"},
        {"PUT /api/v1/users/{name}", R"({"role": "user"})"},
        {"POST /api/v1/jobs/{id}/priority", R"({"priority": "low"})"},
        {"POST /api/v1/jobs/{id}/move", R"({"first": true})"}};
    std::string path = pattern.path;
    for (const auto& [place, value] : {std::pair("{id}", "1"),
                                       {"{name}", "n1"},
                                       {"{owner}", "ann"},
                                       {"{group}", "training"},
                                       {"{priority}", "high"}}) {
      if (const size_t at = path.find(place); at != std::string::npos) {
        path.replace(at, std::string_view(place).size(), value);
      }
    }
    if (path == "/api/v1/events") path += "?format=list";
    const auto body = kBodies.find(pattern.method + (" " + pattern.path));
    const bool has_body = pattern.method != std::string_view("GET");
    return ask(pattern.method, path,
               body != kBodies.end() ? body->second
               : has_body            ? "{}"
                                     : "",
               "", token);
  }

  int looks_ = 0;
};

// As somebody who may little and as somebody who may all: what is refused is there, what succeeds
// is if the contract says so, and reads are not.
TEST_F(Audit, EveryRouteLeavesWhatTheContractSays) {
  submit("of-root");
  const std::map<std::string, std::string> tokens = {{"bob", token_of("bob", "user")},
                                                     {"root", LiveServer::kAdminToken}};
  std::set<std::string> without;
  std::set<std::string> reads;  // a second one within a minute leaves nothing of its own
  const auto* api = v1::GetJobRequest::descriptor()->file()->FindServiceByName("Api");
  for (int i = 0; i < api->method_count(); ++i) {
    const std::string call = api->method(i)->name();
    for (const v1::Route& route : api->method(i)->options().GetRepeatedExtension(v1::route)) {
      for (const auto& [user, token] : tokens) {
        const size_t before = server_.audited().size();
        const Answer answer = ask_route(pattern_of(route), token);
        if (answer.body.find("nothing is served") != std::string::npos) continue;
        const bool is_bulk = answer.body.find("\"results\"") != std::string::npos;
        std::string result = answer.status < 300 ? "ok" : answer.content().value("title", "");
        if (is_bulk && answer.body.find("permission_denied") != std::string::npos) {
          result = "permission_denied";
        }
        const bool is_refused = result == "permission_denied" || result == "unauthenticated";
        const bool is_kept = is_refused || is_audited(call, Code::ok);
        const std::string what = fmt::format("{} {} as {}: {} {}", call, pattern_of(route).path,
                                             user, answer.status, answer.body.substr(0, 200));
        if (!is_kept) {
          without.insert(call);
          continue;
        }
        const bool is_again =
            !is_refused && only_reads(call) && !reads.insert(user + " " + call).second;
        const auto entry = find(
            [&](const AuditEntry& each) {
              const bool is_by = each.user == user || each.user.empty();
              return is_by && each.call == call && each.result == result;
            },
            is_again ? 0 : before);
        ASSERT_TRUE(entry.has_value()) << what << " after " << before;
        EXPECT_EQ(entry->address, "127.0.0.1") << what;
        if (!entry->user.empty()) {
          EXPECT_EQ(entry->token.size(), 12u) << what;
        }
      }
    }
  }
  for (const AuditEntry& entry : server_.audited()) {
    const bool is_refused =
        entry.result == "permission_denied" || entry.result == "unauthenticated";
    EXPECT_TRUE(is_refused || is_audited(entry.call, Code::ok)) << entry.call << entry.result;
  }
  EXPECT_TRUE(without.contains("GetJob") && without.contains("DryRunJob"));
}

TEST_F(Audit, ASecondSlashIsNoWayAroundIt) {
  const auto* api = v1::GetJobRequest::descriptor()->file()->FindServiceByName("Api");
  int asked = 0;
  for (int i = 0; i < api->method_count(); ++i) {
    for (const v1::Route& route : api->method(i)->options().GetRepeatedExtension(v1::route)) {
      const RoutePattern pattern = pattern_of(route);
      for (const char* before : {"/", "/%2F"}) {
        const Answer answer =
            ask_route({pattern.method, before + pattern.path}, LiveServer::kAdminToken);
        EXPECT_EQ(answer.status, 404) << pattern.method << " " << before << pattern.path;
        EXPECT_NE(answer.body.find("nothing is served"), std::string::npos) << answer.body;
        ++asked;
      }
    }
  }
  EXPECT_GT(asked, 80);
}

// They are merged as others are: the first is there at once.
TEST_F(Audit, GuessesThatAreTurnedAwayAreThere) {
  const auto guess = [&] {
    return ask("POST", "/api/v1/session", R"({"token": "wrong"})", "", "").status;
  };
  for (int i = 0; i < 20; ++i) EXPECT_EQ(guess(), 401);
  EXPECT_TRUE(find("", "SignIn", "unauthenticated").has_value());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(guess(), 429);
  EXPECT_TRUE(find("", "SignIn", "resource_exhausted").has_value());
}

TEST_F(Audit, WhoIsRefusedAtThePortOfServicesIsThere) {
  const ServiceGate gate = make_service_gate(server_.routes().parts());
  const auto refused = [&](std::map<std::string, std::string> headers) {
    const auto judged = gate.judge({.method = "GET",
                                    .target = "/jobs/7/web/",
                                    .headers = std::move(headers),
                                    .peer = "10.0.0.9"});
    const auto* answer = std::get_if<HttpResponse>(&judged);
    return answer == nullptr ? 0 : answer->status;
  };
  EXPECT_EQ(refused({{"authorization", "Bearer hai_wrong"}}), 401);
  const auto stranger = find("", std::string(kShellCall), "unauthenticated", "job/7");
  ASSERT_TRUE(stranger.has_value());
  EXPECT_EQ(stranger->address, "10.0.0.9");

  const std::string cookie = "hai_session=" + token_of("bob", "user");
  EXPECT_EQ(refused({{"cookie", cookie}, {"host", "h"}}), 0) << "his own page";
  EXPECT_EQ(refused({{"cookie", cookie}, {"host", "h"}, {"origin", "https://evil.example"}}), 403);
  const auto page = find("bob", std::string(kShellCall), "permission_denied", "job/7");
  ASSERT_TRUE(page.has_value());
  EXPECT_NE(page->detail.find("evil.example"), std::string::npos) << page->detail;
}

TEST_F(Audit, NobodyKnownIsMergedOverAllRoutes) {
  const auto* api = v1::GetJobRequest::descriptor()->file()->FindServiceByName("Api");
  int refused = 0;
  for (int i = 0; i < api->method_count(); ++i) {
    for (const v1::Route& route : api->method(i)->options().GetRepeatedExtension(v1::route)) {
      if (route.role() == "anyone") continue;
      const Answer answer = ask_route(pattern_of(route), "hai_wrong");
      if (answer.body.find("nothing is served") != std::string::npos) continue;
      EXPECT_EQ(answer.status, 401) << pattern_of(route).path;
      ++refused;
    }
  }
  EXPECT_GT(refused, 40);
  ASSERT_TRUE(find("", "SubmitJob", "unauthenticated").has_value());
  const std::vector<AuditEntry> all = server_.audited();
  EXPECT_EQ(std::ranges::count(all, "unauthenticated", &AuditEntry::result), 1);
}

TEST_F(Audit, SaysWhatWasDoneToWhat) {
  const std::string bob = token_of("bob", "user");
  EXPECT_TRUE(find("root", "SetUser", "ok", "user/bob").has_value());
  const auto made = find([](const AuditEntry& entry) { return entry.call == "CreateToken"; });
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE(made->target.starts_with("user/bob, token/")) << made->target;
  const int64_t job = submit("mine");
  const std::string target = fmt::format("job/{}", job);
  EXPECT_TRUE(find("root", "SubmitJob", "ok", target).has_value());
  EXPECT_EQ(ask("POST", fmt::format("/api/v1/jobs/{}/stop", job), "", "", bob).status, 403);
  const auto refused = find("bob", "ControlJob", "permission_denied", target);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->detail.substr(0, 6), "stop; ");
  server_.write_log("hello\n");
  EXPECT_EQ(get(fmt::format("/api/v1/jobs/{}/logs", job)).status, 200);
  EXPECT_TRUE(find("root", "ReadLog", "ok", target).has_value());
  EXPECT_EQ(ask("GET", fmt::format("/api/v1/jobs/{}/logs", job), "", "", bob).status, 403);
  EXPECT_TRUE(find("bob", "ReadLog", "permission_denied", target).has_value());
  EXPECT_EQ(ask("POST", fmt::format("/api/v1/jobs/{}/stop", job), R"({"reason": "late"})").status,
            200);
  const auto stopped = find("root", "ControlJob", "ok", target);
  ASSERT_TRUE(stopped.has_value());
  EXPECT_EQ(stopped->detail, "stop: late");
}

// The same over gRPC, where strangers are refused before their request is read.
TEST_F(Audit, TheSameOverGrpc) {
  const int64_t job = submit("mine");
  const std::string target = fmt::format("job/{}", job);
  const std::string bob = token_of("bob", "user");
  const auto stub = v1::Api::NewStub(
      grpc::CreateChannel(server_.grpc_address(), grpc::InsecureChannelCredentials()));
  const auto prepare = [](grpc::ClientContext& context, const std::string& token) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    context.AddMetadata("authorization", "Bearer " + token);
  };
  v1::ControlJobRequest stop;
  stop.add_jobs(std::to_string(job));
  stop.set_action(v1::JOB_ACTION_STOP);
  v1::ControlJobReply done;
  {
    grpc::ClientContext context;
    prepare(context, "hai_wrong");
    EXPECT_EQ(stub->ControlJob(&context, stop, &done).error_code(),
              grpc::StatusCode::UNAUTHENTICATED);
    const auto entry = find("", "ControlJob", "unauthenticated");
    ASSERT_TRUE(entry.has_value());
    EXPECT_EQ(entry->address, "127.0.0.1");
  }
  {
    grpc::ClientContext context;
    prepare(context, bob);
    EXPECT_TRUE(stub->ControlJob(&context, stop, &done).ok());
    EXPECT_TRUE(find("bob", "ControlJob", "permission_denied", target).has_value());
  }
  for (const auto& [user, token, result] : {std::tuple("bob", bob, "permission_denied"),
                                            {"root", std::string(LiveServer::kAdminToken), "ok"}}) {
    grpc::ClientContext context;
    prepare(context, token);
    v1::ReadLogRequest request;
    request.set_job(std::to_string(job));
    const auto reader = stub->ReadLog(&context, request);
    v1::ReadLogReply piece;
    while (reader->Read(&piece)) {
    }
    EXPECT_TRUE(find(user, "ReadLog", result, target).has_value());
  }
  grpc::ClientContext context;
  prepare(context, LiveServer::kAdminToken);
  EXPECT_TRUE(stub->ControlJob(&context, stop, &done).ok());
  const auto entry = find("root", "ControlJob", "ok", target);
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->address, "127.0.0.1");
  EXPECT_EQ(entry->detail, "stop");
}

TEST_F(Audit, AJobIsItsNumberHoweverItWasWritten) {
  const int64_t job = submit("mine");
  EXPECT_EQ(get(fmt::format("/api/v1/jobs/00{}/spec", job)).status, 200);
  EXPECT_TRUE(find("root", "GetJobSpec", "ok", fmt::format("job/{}", job)).has_value());
}

}  // namespace
}  // namespace hai
