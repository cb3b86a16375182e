// Sessions of pages: the cookie, what goes with it, and those who have only one of both.

#include "tests/unit/http/routes_fixture.h"

namespace hai {
namespace {

class Sessions : public RoutesFixture {
 protected:
  struct Session {
    std::string cookie;  // "hai_session=…"
    std::string csrf;
  };

  Answer post_session(const std::string& body, const std::string& headers = "") {
    return ask("POST", "/api/v1/session", body, headers, "");
  }
  static std::string cookie_of(const Answer& answer) {
    const size_t at = answer.head.find("Set-Cookie: ");
    if (at == std::string::npos) return "";
    return answer.head.substr(at + 12, answer.head.find_first_of(";\r", at) - at - 12);
  }
  Session sign_in(const std::string& token = LiveServer::kAdminToken) {
    const Answer answer = post_session(json{{"token", token}}.dump());
    EXPECT_EQ(answer.status, 200) << answer.body;
    return {cookie_of(answer), answer.content().value("csrf", "")};
  }
  Answer as(const Session& session, const std::string& method, const std::string& path,
            const std::string& body = "", const std::string& csrf = "") {
    std::string headers = "Cookie: other=1; " + session.cookie + "\r\n";
    if (!csrf.empty()) headers += "X-Hai-Csrf: " + csrf + "\r\n";
    return ask(method, path, body, headers, "");
  }
};

// A page at another port of this host can put one beside it, for a longer path: it comes first.
TEST_F(Sessions, OfTwoInARequestNeitherCounts) {
  const Session mine = sign_in();
  const Session another = sign_in();
  EXPECT_EQ(as(mine, "GET", "/api/v1/whoami").status, 200);
  for (const std::string& first : {another.cookie, std::string("hai_session=x")}) {
    const Session both{first + "; " + mine.cookie, mine.csrf};
    EXPECT_EQ(as(both, "GET", "/api/v1/whoami").status, 401) << first;
  }
}

TEST_F(Sessions, TheSecretIsInACookieThatScriptsCannotRead) {
  const Answer answer = post_session(json{{"token", LiveServer::kAdminToken}}.dump());
  EXPECT_EQ(answer.status, 200) << answer.body;
  for (const char* word : {"; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age="}) {
    EXPECT_NE(answer.head.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(answer.head.find("; Secure"), std::string::npos) << "which plain text cannot be";
  const json content = answer.content();
  EXPECT_EQ(content.value("user", ""), "root");
  EXPECT_EQ(content.value("role", ""), "admin");
  EXPECT_EQ(content.value("csrf", "").size(), 64u);
  EXPECT_EQ(answer.body.find("hai_"), std::string::npos) << "the secret is not in it";
}

TEST_F(Sessions, ReadsByTheCookieAndChangesWithWhatGoesWithIt) {
  const Session session = sign_in();
  EXPECT_EQ(as(session, "GET", "/api/v1/whoami").status, 200);
  const std::string path = "/api/v1/users/ann";
  EXPECT_EQ(as(session, "PUT", path, "{}").status, 403);
  EXPECT_EQ(as(session, "PUT", path, "{}", std::string(64, '0')).status, 403);
  EXPECT_EQ(as(session, "PUT", path, std::string(70'000, ' ')).status, 403) << "nor is it read";
  EXPECT_EQ(as(session, "DELETE", "/api/v1/session").status, 403);
  EXPECT_EQ(as(session, "PUT", path, "{}", session.csrf).status, 200);
  const Session other = sign_in();
  EXPECT_EQ(as(session, "PUT", path, "{}", other.csrf).status, 403) << "of another session";
}

TEST_F(Sessions, AuthorizationCountsBeforeTheCookie) {
  const Session session = sign_in();
  const std::string cookie = "Cookie: " + session.cookie + "\r\n";
  const std::string ann = token_of("ann", "user");
  const Answer who = ask("GET", "/api/v1/whoami", "", cookie, ann);
  EXPECT_EQ(who.content().value("user", ""), "ann");
  EXPECT_EQ(ask("GET", "/api/v1/whoami", "", cookie, "wrong").status, 401);
  EXPECT_EQ(ask("GET", "/api/v1/whoami", "", cookie + "Authorization: Basic x\r\n", "").status,
            401);
}

TEST_F(Sessions, IsResumedByAPageThatWasLoadedAnew) {
  const Session session = sign_in();
  const std::string cookie = "Cookie: " + session.cookie + "\r\n";
  const Answer again = post_session("", cookie);
  EXPECT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(again.content().value("csrf", ""), session.csrf);
  EXPECT_EQ(cookie_of(again), "");
  EXPECT_EQ(post_session("").status, 401);
  EXPECT_EQ(post_session("", "Cookie: hai_session=hai_wrong\r\n").status, 401);
  const std::string as_cookie = "Cookie: hai_session=" + std::string(LiveServer::kAdminToken);
  EXPECT_EQ(post_session("", as_cookie + "\r\n").status, 401) << "no session but a token";
}

TEST_F(Sessions, AnotherPageSignsNobodyIn) {
  const std::string proof = json{{"token", LiveServer::kAdminToken}}.dump();
  for (const char* header : {"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
                             "Origin: http://evil.example", "Origin: null"}) {
    EXPECT_EQ(post_session(proof, std::string(header) + "\r\n").status, 403) << header;
  }
  EXPECT_EQ(post_session(proof, "Origin: http://t\r\nSec-Fetch-Site: same-origin\r\n").status, 200);
}

TEST_F(Sessions, EndsWhenItsUserLeavesOrItsTokenGoes) {
  const Session session = sign_in();
  const Answer left = as(session, "DELETE", "/api/v1/session", "", session.csrf);
  EXPECT_EQ(left.status, 204) << left.body;
  EXPECT_NE(left.head.find("hai_session=; Path=/; Max-Age=0"), std::string::npos) << left.head;
  EXPECT_EQ(as(session, "GET", "/api/v1/whoami").status, 401);

  const std::string token = token_of("ann", "user");
  const Session second = sign_in(token);
  EXPECT_EQ(as(second, "GET", "/api/v1/whoami").content().value("user", ""), "ann");
  const json tokens = ask("GET", "/api/v1/tokens", "", "", token).content()["tokens"];
  ASSERT_EQ(tokens.size(), 2u);
  for (const json& each : tokens) {
    if (each["session"]) continue;
    const std::string path = "/api/v1/tokens/" + each["id"].get<std::string>();
    EXPECT_EQ(ask("DELETE", path).status, 204);
  }
  EXPECT_EQ(as(second, "GET", "/api/v1/whoami").status, 401) << "begun with a revoked token";
}

TEST_F(Sessions, ThoseWhoGuessAreAnsweredForAWhile) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(post_session(R"({"token": "wrong"})").status, 401);
  EXPECT_EQ(post_session(R"({"token": "wrong"})").status, 429);
  EXPECT_EQ(post_session(std::string(70'000, ' ')).status, 413);
  for (const char* path : {"//api/v1/session", "/%2Fapi/v1/session"}) {
    EXPECT_EQ(ask("POST", path, R"({"token": "wrong"})", "", "").status, 404) << path;
  }
}

TEST_F(Sessions, ATokenMayDoWhatItsScopeSays) {
  const std::string admin = LiveServer::kAdminToken;
  token_of("ann", "user");
  const auto make = [&](const json& body, const std::string& by) {
    return ask("POST", "/api/v1/tokens", body.dump(), "", by);
  };
  const Answer plain = make({{"user", "ann"}}, admin);
  EXPECT_EQ(plain.content().value("scope", ""), "submit") << "as much as her role allows";
  EXPECT_EQ(make({{"user", "ann"}, {"scope", "operate"}}, admin).status, 400);
  EXPECT_EQ(make({{"scope", "all"}}, admin).status, 400);
  for (const char* ttl : {"59s", "366d", "-1h", "soon", "99999999999999999999d"}) {
    EXPECT_EQ(make({{"ttl", ttl}}, admin).status, 400) << ttl;
  }
  const std::string reader = make({{"scope", "read"}}, admin).content().value("secret", "");
  EXPECT_EQ(ask("GET", "/api/v1/users", "", "", reader).status, 200);
  EXPECT_EQ(ask("PUT", "/api/v1/users/bob", "{}", "", reader).status, 403);
  EXPECT_EQ(make({{"scope", "read"}}, reader).status, 403);
  const std::string submitter = make({{"scope", "submit"}}, admin).content().value("secret", "");
  EXPECT_EQ(make({{"scope", "admin"}}, submitter).status, 403);
  EXPECT_EQ(make(json::object(), submitter).content().value("scope", ""), "submit");
  EXPECT_EQ(ask("PUT", "/api/v1/users/bob", "{}", "", submitter).status, 403) << "as a user";
}

}  // namespace
}  // namespace hai
