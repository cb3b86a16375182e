// What a caller can make the server do with one small request, known or not: a list of node names
// stands for up to a hundred thousand of them.

#include <chrono>
#include <fstream>
#include <set>

#include "tests/unit/http/routes_fixture.h"

namespace hai {
namespace {

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

class Strangers : public RoutesFixture {
 protected:
  // The answer, which must have taken little time and memory.
  Answer ask_cheaply(const std::string& path, const std::string& body, const std::string& token) {
    const int64_t before = resident_bytes();
    const auto began = std::chrono::steady_clock::now();
    Answer answer = ask("POST", path, body, "", token);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    EXPECT_LT(took.count(), 2.0) << path;
    EXPECT_LT(resident_bytes() - before, 60 << 20) << path;
    return answer;
  }

  static std::string lists(int count) {
    json names = json::array();
    for (int i = 0; i < count; ++i) names.push_back("n[1-99999]");
    return names.dump();
  }
  static inline const std::string kAdmin = LiveServer::kAdminToken;
};

TEST_F(Strangers, AreRefusedBeforeTheirListsAreRead) {
  const std::string whatif = R"({"drain":)" + lists(700) + "}";
  EXPECT_EQ(ask_cheaply("/api/v1/whatif", whatif, "").status, 401);
  EXPECT_EQ(ask_cheaply("/api/v1/whatif", whatif, "wrong").status, 401);
  EXPECT_EQ(ask_cheaply("/api/v1/whatif", "{nonsense", "").status, 401) << "not even as JSON";
  EXPECT_EQ(ask_cheaply("/api/v1/jobs", std::string(70'000, ' '), "").status, 401);
  EXPECT_NE(ask_cheaply("/api/v1/jobs", std::string(70'000, ' '), kAdmin).status, 413);
}

TEST_F(Strangers, KnownOnesHaveLimitsOverAllTheirLists) {
  const Answer many = ask_cheaply("/api/v1/whatif", R"({"drain":)" + lists(700) + "}", kAdmin);
  EXPECT_EQ(many.status, 400);
  EXPECT_NE(many.body.find("more than 20000 names"), std::string::npos) << many.body;
  for (const char* action : {"drain", "validate"}) {
    const json body = {{"verb", action}, {"nodes", json::parse(lists(700))}};
    EXPECT_EQ(ask_cheaply("/api/v1/nodes/actions", body.dump(), kAdmin).status, 400) << action;
  }
}

TEST_F(Strangers, ALongReasonIsRefusedBeforeEachNodeHasItsCopy) {
  const json body = {
      {"verb", "drain"}, {"nodes", {"n[1-20000]"}}, {"reason", std::string(60'000, 'x')}};
  const Answer answer = ask_cheaply("/api/v1/nodes/actions", body.dump(), kAdmin);
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("reason has 60000 bytes"), std::string::npos) << answer.body;
}

TEST_F(Strangers, ALongNameIsRefusedBeforeItIsRepeated) {
  const json body = {{"drain", {"n[1-20000]" + std::string(60'000, 'x')}}};
  const Answer answer = ask_cheaply("/api/v1/whatif", body.dump(), kAdmin);
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("longer than 255"), std::string::npos) << answer.body;
}

TEST_F(Strangers, SeeNoPageWhereNobodySaidSo) {
  submit("secret-plan");
  const Answer page = ask("GET", "/", "", "", "");
  EXPECT_EQ(page.status, 404);
  EXPECT_EQ(page.body.find("secret-plan"), std::string::npos) << page.body;
}

// `status_page: true`, without a dashboard.
class StatusPage : public RoutesFixture {
 protected:
  StatusPage()
      : RoutesFixture([](ServerConfig& config, ServingSecrets&) { config.status_page = true; }) {}

  Answer page() { return ask("GET", "/", "", "", ""); }
  void cordon(const std::string& reason) {
    const std::string body = json{{"reason", reason}}.dump();
    EXPECT_EQ(ask("POST", "/api/v1/nodes/n1/cordon", body).status, 200);
  }
};

TEST_F(StatusPage, EscapesWhatPeopleWrite) {
  cordon("<script>alert(1)</script>");
  const Answer shown = page();
  EXPECT_EQ(shown.status, 200);
  EXPECT_NE(shown.head.find("Content-Security-Policy"), std::string::npos);
  EXPECT_EQ(shown.body.find("<script"), std::string::npos);
  EXPECT_NE(shown.body.find("&lt;script&gt;"), std::string::npos);
}

TEST_F(StatusPage, NamesNoJobAndNobody) {
  const std::string zoe = token_of("zoe", "user");
  EXPECT_EQ(ask("POST", "/api/v1/jobs", yaml("secret-plan"), "", zoe).status, 201);
  EXPECT_EQ(ask("POST", "/api/v1/jobs", yaml("other-plan"), "", zoe).status, 201);
  cordon("job 1 (secret-plan) of zoe has broken it");
  const std::string shown = page().body;
  EXPECT_NE(shown.find("a job of somebody else has broken it"), std::string::npos) << shown;
  for (const char* word : {"secret-plan", "other-plan", "zoe"}) {
    EXPECT_EQ(shown.find(word), std::string::npos) << word << shown;
  }
}

// It would differ each time.
TEST_F(StatusPage, IsMadeOnceASecondHoweverManyAsk) {
  std::set<std::string> pages;
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    cordon(std::string(static_cast<size_t>(i + 1), 'x'));
    pages.insert(page().body);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  EXPECT_LE(static_cast<double>(pages.size()), took.count() + 1.0);
}

}  // namespace
}  // namespace hai
