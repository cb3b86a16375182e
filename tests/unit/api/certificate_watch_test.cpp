#include "server/api/certificate_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "common/log.h"
#include "sim/virtual_loop.h"
#include "tests/support/certificates.h"

namespace hai {
namespace {

class CertificateWatchTest : public ::testing::Test {
 protected:
  // Of the certificate of this kind.
  int warnings(const std::string& of) const {
    std::ifstream file(log_);
    int count = 0;
    for (std::string line; std::getline(file, line);) {
      count += line.find("certificate_ends of=" + of + " file=") != std::string::npos ? 1 : 0;
    }
    return count;
  }

  TestAuthority ca_;
  const std::string log_ = ca_.path("watch.log");
  // Certificates are made by the real clock, and days pass at once.
  const MachineClock clock_{.wall_skew = std::chrono::duration_cast<Duration>(
                                             std::chrono::system_clock::now().time_since_epoch()) -
                                         VirtualLoop::kWallStart.time_since_epoch()};
  Timeline timeline_;
  VirtualLoop loop_{timeline_, &clock_};
};

TEST_F(CertificateWatchTest, WarnsAtTheStartAndOnceADayUntilItIsReplaced) {
  const TlsFiles files = ca_.server("s", {"localhost"}, 365);
  ASSERT_TRUE(set_log_file(log_).is_ok());
  CertificateWatch watch(loop_, files);
  timeline_.run_until(timeline_.now() + 12h);
  watch.start();
  timeline_.run_until(timeline_.now() + 24h * 334);
  EXPECT_EQ(warnings("server"), 0) << "30 and a half days are left";
  timeline_.run_until(timeline_.now() + 24h * 2);
  EXPECT_EQ(warnings("server"), 2) << "since 30 days before its end, once a day";
  CertificateWatch restarted(loop_, files);
  restarted.start();
  EXPECT_EQ(warnings("server"), 3) << "and at each start";
  restarted.stop();
  ca_.server("s", {"localhost"}, 800);
  timeline_.run_until(timeline_.now() + 24h * 10);
  EXPECT_EQ(warnings("server"), 3);
  EXPECT_EQ(warnings("ca"), 0) << "it holds for ten years";
  watch.stop();
  ASSERT_TRUE(set_log_file("").is_ok());
}

TEST_F(CertificateWatchTest, ReadsTheFirstOfEachFileThatIsThere) {
  const TlsFiles files = ca_.server("s", {"localhost"}, 100);
  const std::string fresh = make_authority(200).value().certificate;
  ca_.write("both.crt", fresh + ca_.ca_text());
  const auto read = [this](const TlsFiles& of) { return CertificateWatch(loop_, of).read(); };
  const auto found =
      read({.certificate = files.certificate, .key = files.key, .ca = ca_.path("both.crt")});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at("server").names, std::vector<std::string>{"localhost"});
  EXPECT_EQ(found.at("ca").ends, read_certificate(fresh).value().ends)
      << "while the CA is changed, the new one stands first";
  EXPECT_TRUE(read({}).empty());
  EXPECT_EQ(read({.certificate = "/nowhere", .key = files.key, .ca = files.ca}).size(), 1u);
}

}  // namespace
}  // namespace hai
