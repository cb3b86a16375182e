#include "agent/rpc/certificate_renewer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "agent/rpc/certificate_calls.h"
#include "common/asio_loop.h"
#include "common/tls/authority.h"
#include "common/tls/pair_files.h"
#include "common/tls/request.h"
#include "server/api/certificate_maker.h"
#include "tests/support/certificates.h"
#include "tests/unit/rpc/run_until.h"

namespace hai {
namespace {

TEST(RenewalDue, IsAtTwoThirdsOrALittleEarlier) {
  Rng rng(7);
  const UnixTime begins{1'000s};
  for (int i = 0; i < 1'000; ++i) {
    const Duration after = renewal_due(begins, begins + 3'000s, rng) - begins;
    EXPECT_LE(after, Duration(2'000s));
    EXPECT_GE(after, Duration(1'850s));
  }
}

TEST(RenewalPause, GrowsWithEachFailureAndFitsIntoWhatIsLeft) {
  const Duration life = 30 * Duration(24h);
  EXPECT_EQ(renewal_pause(1, 100s, 50s), Duration(1s));
  EXPECT_EQ(renewal_pause(1, life / 30, life / 90), Duration(24h) / 100);
  EXPECT_EQ(renewal_pause(1, life, life / 3), Duration(1h)) << "the longest";
  EXPECT_EQ(renewal_pause(3, 1'000s, 1'000s), Duration(40s));
  EXPECT_EQ(renewal_pause(9, 1'000s, 100s), Duration(10s)) << "a tenth of what is left";
  EXPECT_EQ(renewal_pause(9, 1'000s, -5s), Duration(1s)) << "when it is over, too";
}

// A node that gave up before its turn would ask again, behind all others.
TEST(CertificatePatience, IsLongerThanTheQueueOfTheServer) {
  const Duration queue =
      Duration(1s) * CertificateMaker::kWaitingMax / CertificateMaker::kPerSecond;
  EXPECT_GE(kCertificatePatience, 2 * queue);
}

// A pair that began so long ago and ends so much later than now.
class Renewer : public testing::Test {
 protected:
  void put(Duration before, Duration left) {
    const auto now = UnixTime(
        std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
    const KeyAndRequest made = make_request("node-1").value();
    const IssuedCertificate issued = issue_for_request(authority_, made.request, "node-1",
                                                       {.begins = now - before, .ends = now + left})
                                         .value();
    ASSERT_TRUE(replace_pair(files_, made.key, issued.certificate).is_ok());
  }
  void start(std::function<Status(const CertificateRenewerOptions&)> renew) {
    renewer_ = std::make_unique<CertificateRenewer>(
        loop_, CertificateRenewerOptions{.servers = {"127.0.0.1:1"},
                                         .files = files_,
                                         .node = "node-1",
                                         .renew = std::move(renew)});
    renewer_->start();
  }

  AsioLoop loop_;
  TestAuthority folder_;
  KeyAndCertificate authority_ = make_authority().value();
  TlsFiles files_{.certificate = folder_.path("node.pem"), .key = folder_.path("node.pem")};
  std::unique_ptr<CertificateRenewer> renewer_;
};

TEST_F(Renewer, AsksAtOnceWhereItIsDueAndAgainUntilItHasOne) {
  put(100s, 20s);
  auto calls = std::make_shared<std::atomic<int>>(0);
  start([this, calls](const CertificateRenewerOptions&) {
    if (++*calls < 3) return unavailable("nobody leads");
    put(0s, 24h);
    return ok();
  });
  EXPECT_TRUE(run_until(loop_, [&] { return *calls == 3; }));
  bool is_over = false;
  loop_.call_after(2s, [&] { is_over = true; });
  EXPECT_TRUE(run_until(loop_, [&] { return is_over; }));
  EXPECT_EQ(*calls, 3) << "the new one is fresh";
}

TEST_F(Renewer, AsksInTimeForOneOfAFewSeconds) {
  put(1s, 5s);  // due 3 s from now at the latest
  auto calls = std::make_shared<std::atomic<int>>(0);
  const MonoTime began = loop_.now();
  start([this, calls](const CertificateRenewerOptions&) {
    put(0s, 24h);
    ++*calls;  // last: then the test is over
    return ok();
  });
  EXPECT_TRUE(run_until(loop_, [&] { return *calls == 1; }));
  EXPECT_GE(loop_.now() - began, Duration(1500ms));
  EXPECT_LE(loop_.now() - began, Duration(4s));
}

TEST_F(Renewer, NeverAsksTwiceAtOnce) {
  put(100s, 20s);
  auto under_way = std::make_shared<std::atomic<int>>(0);
  auto most = std::make_shared<std::atomic<int>>(0);
  auto calls = std::make_shared<std::atomic<int>>(0);
  start([=](const CertificateRenewerOptions&) {
    *most = std::max<int>(*most, ++*under_way);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    --*under_way;
    ++*calls;
    return unavailable("no");
  });
  EXPECT_TRUE(run_until(loop_, [&] { return *calls == 2; }));
  EXPECT_EQ(*most, 1);
}

}  // namespace
}  // namespace hai
