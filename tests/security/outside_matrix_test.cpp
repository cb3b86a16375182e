// What the two matrices leave out: each such call and route with the reason, and the tests that
// hold it instead. A new one that is neither judged there nor named here fails.

#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "hai/v1/agent.grpc.pb.h"
#include "hai/v1/shell.pb.h"
#include "tests/security/access_fixture.h"

namespace hai {
namespace {

struct LeftOut {
  std::string what;  // "/hai.v1.Api/SignIn" or "GET /livez"; "*" at the end: all that begin so
  std::string reason;
  std::vector<std::string> tests;
  bool is_in_contract = true;  // false: neither a call nor a route of the document
};

const std::vector<LeftOut> kLeftOut = {
    {"/hai.v1.Api/SignIn",
     "for anyone: what he shows is judged, not who he is",
     {"SignInTest.SomebodyNewComesInOnlyWhereHeMay", "SignInTest.WhoIsNotActiveStaysOut",
      "Sessions.ATokenMayDoWhatItsScopeSays", "Contract.EveryRouteLetsInWhomItSays"}},
    {"/hai.v1.Api/BeginSignIn",
     "for anyone: tells how one signs in, which lets nobody in yet",
     {"Contract.EveryRouteLetsInWhomItSays",
      "e2e.oidc_test.test_a_device_that_nobody_agreed_to_gets_nothing"}},
    {"/hai.v1.Api/JoinNode",
     "for anyone: proves itself by a join token, which is no caller's",
     {"EnrollmentTest.IsRefusedForAnotherNameAWrongTokenOneUsedUpAndOneOver",
      "Contract.EveryRouteLetsInWhomItSays"}},
    {"/hai.v1.Shells/Open",
     "a stream both ways, for the job's owner alone, whatever the role",
     {"Visible.LetsNobodyButItsOwnerIntoAJob", "ShellsOfServer.RefuseWhoMayNotAndWhatIsNot",
      "ImageWords.AreForOperatorsWhereTheyChangeSomething"}},
    {"GET /api/v1/jobs/{id}/shell",
     "the same as Shells.Open, over a WebSocket",
     {"Visible.LetsNobodyButItsOwnerIntoAJob", "WebShells.AreNotForOtherPagesAndNotForNobody"}},
    {"/hai.v1.NodeShells/Join",
     "of agents: by the ticket of one request",
     {"ShellsOfServer.AreForTheAgentThatWasAskedAndNobodyElse"}},
    {"/hai.v1.AgentService/Connect",
     "of agents: by their certificate and secret",
     {"AgentProof.AWrongTokenIsRefusedBeforeTheHello", "Tls.AnAgentIsTheNodeOfItsCertificate"}},
    {"/hai.v1.AgentService/Renew",
     "of agents: by their certificate",
     {"Access.RenewsNoCertificateOfWhoShowsNone",
      "EnrollmentTest.RenewsNowAndThenAndNotAgainAndAgain"}},
    {"GET /api/v1/oidc/login",
     "for anyone: sends the browser to the identity provider",
     {"e2e.oidc_test.test_nobody_is_sent_to_another_host"}},
    {"GET /api/v1/oidc/callback",
     "for anyone: proves itself by what the provider has signed",
     {"e2e.oidc_test.test_the_way_back_is_only_for_who_went",
      "e2e.oidc_test.test_a_code_of_another_sign_in_is_refused"}},
    {"POST /api/v1/jobs/{id}/*",
     "ControlJob of one job, by another name",
     {"Contract.EveryRouteLetsInWhomItSays", "SeenByOwners.NoRouteTellsOthersOfAJob"}},
    {"POST /api/v1/nodes/{name}/*",
     "ControlNode of one node, by another name",
     {"Contract.EveryRouteLetsInWhomItSays"}},
    {"GET /livez", "for anyone: yes or no", {"Routes.HealthNeedsNoToken"}},
    {"GET /readyz", "for anyone: yes or no", {"Routes.HealthNeedsNoToken"}},
    {"GET /version", "for anyone: the build", {"Routes.HealthNeedsNoToken"}},
    {"GET /metrics",
     "for who reaches the port of health",
     {"e2e.flood_test.test_metrics_are_not_for_strangers_who_reach_the_other_port"}},
    {"GET /api/v1/openapi.json", "for anyone: the contract", {"Contract.IsKept"}},
    {"GET /",
     "the dashboard's files, or a page that names nobody",
     {"StatusPage.NamesNoJobAndNobody"},
     false},
    {"the port of services",
     "carries a job's own pages to its owner",
     {"e2e.service_test.test_nobody_else_gets_there",
      "e2e.service_test.test_by_a_session_it_is_for_its_own_pages_only",
      "Audit.WhoIsRefusedAtThePortOfServicesIsThere"},
     false},
};

bool covers(const LeftOut& left_out, const std::string& what) {
  if (!left_out.what.ends_with("*")) return left_out.what == what;
  return what.starts_with(left_out.what.substr(0, left_out.what.size() - 1));
}

// By the contract: calls that the matrices do not judge, and routes that are none of the Api's.
std::set<std::string> left_out_by_contract(const nlohmann::json& document) {
  std::set<std::string> left_out;
  std::set<std::string> of_calls;
  for (const auto* file :
       {api().file(), v1::Hello::descriptor()->file(), v1::ShellMessage::descriptor()->file()}) {
    for (int i = 0; i < file->service_count(); ++i) {
      for (int j = 0; j < file->service(i)->method_count(); ++j) {
        const MethodDescriptor& call = *file->service(i)->method(j);
        const bool is_judged = file->service(i) == &api() && role_needed(call) != "anyone";
        if (!is_judged) left_out.insert("/" + call.service()->full_name() + "/" + call.name());
        for (const v1::Route& route : routes_of(call)) {
          const RoutePattern pattern = pattern_of(route);
          of_calls.insert(fmt::format("{} {}", pattern.method, pattern.path));
        }
      }
    }
  }
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, ignored] : methods.items()) {
      std::string route = method + " " + path;
      for (size_t i = 0; i < method.size(); ++i)
        route[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(route[i])));
      if (!of_calls.contains(route)) left_out.insert(route);
    }
  }
  return left_out;
}

TEST_F(Access, LeavesOutOnlyWhatTheTableNames) {
  const std::set<std::string> left_out =
      left_out_by_contract(get("/api/v1/openapi.json").content());
  for (const std::string& what : left_out) {
    EXPECT_TRUE(
        std::ranges::any_of(kLeftOut, [&](const LeftOut& row) { return covers(row, what); }))
        << what << " is judged by no matrix: give it a row, with the test that judges it";
  }
  for (const LeftOut& row : kLeftOut) {
    const bool is_there =
        std::ranges::any_of(left_out, [&](const std::string& what) { return covers(row, what); });
    EXPECT_EQ(is_there, row.is_in_contract) << row.what;
  }
}

std::string whole_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "Suite.Case" or "e2e.file.case", by the sources.
bool is_a_test(const std::string& name, const std::string& cases) {
  const size_t dot = name.rfind('.');
  if (name.starts_with("e2e.")) {
    const std::filesystem::path file =
        std::filesystem::path(HAI_TESTS) / "e2e" / (name.substr(4, dot - 4) + ".py");
    return whole_text(file).find("def " + name.substr(dot + 1) + "(self") != std::string::npos;
  }
  return cases.find("(" + name.substr(0, dot) + ", " + name.substr(dot + 1) + ")") !=
         std::string::npos;
}

TEST(LeftOut, HasTestsOfItsOwn) {
  std::string cases;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HAI_TESTS)) {
    if (entry.path().filename().string().ends_with("_test.cpp")) cases += whole_text(entry.path());
  }
  EXPECT_FALSE(is_a_test("LeftOut.HasNoSuchTest", cases));
  EXPECT_FALSE(is_a_test("e2e.oidc_test.test_of_nothing", cases));
  for (const LeftOut& row : kLeftOut) {
    EXPECT_FALSE(row.reason.empty() || row.tests.empty()) << row.what;
    for (const std::string& test : row.tests) {
      EXPECT_TRUE(is_a_test(test, cases)) << row.what << " is left to " << test;
    }
  }
}

// Neither a person's token nor the secret of all agents says which node asks.
TEST_F(Access, RenewsNoCertificateOfWhoShowsNone) {
  std::vector<std::string> tokens = {"", "hai_made_up", LiveServer::kAgentToken};
  for (const Who& who : kPeople) {
    for (const TokenScope scope : kScopes) tokens.push_back(secret_of(who, scope));
  }
  const auto stub = v1::AgentService::NewStub(channel_);
  for (const std::string& token : tokens) {
    grpc::ClientContext context;
    show(context, token);
    v1::RenewRequest request;
    request.set_csr("-----BEGIN CERTIFICATE REQUEST-----");
    v1::RenewReply reply;
    const Asked asked = asked_of(stub->Renew(&context, request, &reply));
    EXPECT_NE(word_of(asked.outcome), word_of(Outcome::let_in)) << token << ": " << asked.words;
  }
}

}  // namespace
}  // namespace hai
