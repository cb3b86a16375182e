// What Prometheus scrapes, as promtool judges it.

#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <regex>
#include <set>

#include "server/api/certificate_watch.h"
#include "server/http/metrics.h"
#include "server/http/routes.h"
#include "tests/support/certificates.h"
#include "tests/unit/http/routes_fixture.h"

namespace hai {
namespace {

class Metrics : public RoutesFixture {};

TEST_F(Metrics, ArePassedByPromtool) {
  if (::system("command -v promtool >/dev/null") != 0) GTEST_SKIP() << "promtool is not installed";
  submit("a");
  get("/api/v1/jobs");
  std::string path = ::testing::TempDir() + "hai-metrics-XXXXXX";
  const int file = ::mkstemp(path.data());
  const std::string text = ask("GET", "/metrics", "", "", "").body;
  ASSERT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(file);
  FILE* promtool = ::popen(("promtool check metrics < " + path + " 2>&1").c_str(), "r");
  std::string said(10'000, '\0');
  said.resize(::fread(said.data(), 1, said.size(), promtool));
  EXPECT_EQ(::pclose(promtool), 0) << said;
  ::unlink(path.c_str());
}

TEST_F(Metrics, CountWhatHappened) {
  const int64_t id = submit("a");
  server_.finish_job(id, 0);
  EXPECT_TRUE(server_.eventually(
      [id](Controller& controller) { return controller.state().find(JobId{id})->is_terminal(); }));
  get("/api/v1/jobs/1/nothing");
  const std::string text = ask("GET", "/metrics", "", "", "").body;
  for (const char* line :
       {"hai_leader 1", "hai_gpus{use=\"free\"} 8", "hai_jobs_submitted_total 1",
        "hai_jobs_finished_total{state=\"succeeded\"} 1",
        "hai_sched_decisions_total{kind=\"place\"} 1", "hai_job_wait_seconds_count{nodes=\"1\"} 1",
        "hai_incidents_open 0", "hai_agent_heartbeat_age_seconds{of=\"max\"} ",
        "hai_calls_under_way 0", "hai_log_bytes_total 0", "hai_audit_lost_total 0",
        "hai_audit_not_exported{to=\"file\"} 3",
        "hai_http_requests_total{method=\"POST\",route=\"/api/v1/jobs\",code=\"2xx\"} 1",
        "hai_http_requests_total{method=\"GET\",route=\"none\",code=\"4xx\"} 1"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST_F(Metrics, SayHowLongTheCertificatesHold) {
  const auto text_with = [this](const TlsFiles& files) {
    std::string text;
    server_.on_loop([&] {
      HttpParts parts = server_.routes().parts();
      const CertificateWatch watch(parts.loop, files);
      parts.certificates = &watch;
      text = metrics_text(parts);
    });
    return text;
  };
  const auto value = [](const std::string& text, const std::string& name) {
    const size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1.0 : std::stod(text.substr(at + name.size() + 2));
  };
  constexpr double kDay = 86'400;
  TestAuthority ca;
  const std::string text = text_with(ca.server("s", {"localhost"}, 20));
  EXPECT_NEAR(value(text, "hai_certificate_seconds_left{of=\"server\"}"), 20 * kDay, 120) << text;
  EXPECT_NEAR(value(text, "hai_certificate_seconds_left{of=\"ca\"}"), kAuthorityDays * kDay, 120);
  // It begins an hour early.
  EXPECT_NEAR(value(text, "hai_certificate_notice_seconds{of=\"server\"}"), 5 * kDay, 3'600);
  EXPECT_EQ(value(text, "hai_certificate_notice_seconds{of=\"ca\"}"), 30 * kDay);
  EXPECT_EQ(text_with({}).find("hai_certificate"), std::string::npos) << "without TLS";
}

// Whatever is submitted and asked for, the number of series does not follow it.
TEST_F(Metrics, SeriesDoNotGrowWithWhatPeopleDo) {
  const auto series = [this] {
    const std::string text = ask("GET", "/metrics", "", "", "").body;
    return std::count(text.begin(), text.end(), '\n');
  };
  submit("first");
  const auto load = [this](const std::string& part) {
    for (int i = 0; i < 20; ++i) {
      ask("POST", "/api/v1/jobs", yaml(fmt::format("{}-{}", part, i)));
      ask(fmt::format("X{}", i), fmt::format("/made/up/{}{}", part, i));
      get(fmt::format("/api/v1/jobs/{}{}", part, i));
    }
  };
  series();  // from now on the page tells of itself, too
  load("a");
  const auto before = series();
  load("b");
  // A reason of waiting may have come or gone meanwhile.
  EXPECT_LE(series(), before + 4);
}

}  // namespace
}  // namespace hai
