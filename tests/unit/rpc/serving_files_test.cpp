// What a server says of its TLS files before it listens: by the code systemd knows whether it may
// try again (server/commands/report_failure.cpp).

#include "server/serving_files.h"

#include <gtest/gtest.h>

#include <chrono>

#include "common/tls/peer_keys.h"
#include "common/tls/request.h"
#include "tests/support/certificates.h"

namespace hai {
namespace {

Status checked(const TlsFiles& files) {
  ServerConfig config;
  config.tls = files;
  return check_tls(config);
}

TEST(ServingFiles, ThatTimeOrTheOtherHalfOfAPairMendsAreNoErrorsOfTheConfig) {
  TestAuthority ca;
  const TlsFiles good = ca.server("good", {"localhost"});
  EXPECT_TRUE(checked(good).is_ok()) << checked(good).message();

  const KeyAndCertificate authority = make_authority().value();
  const KeyAndRequest made = make_request("n1").value();
  const auto now = UnixTime(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
  ca.write("later.key", made.key);
  ca.write("later.crt",
           issue_for_request(authority, made.request, "n1", {.begins = now + 1h, .ends = now + 2h})
               .value()
               .certificate);
  const Status later =
      checked({.certificate = ca.path("later.crt"), .key = ca.path("later.key"), .ca = ""});
  EXPECT_EQ(later.code(), Code::failed_precondition) << later.message();
  EXPECT_TRUE(later.message().starts_with("tls: " + ca.path("later.crt"))) << later.message();
  EXPECT_NE(later.message().find("is this machine's clock right?"), std::string::npos);

  EXPECT_EQ(checked(ca.server("old", {"localhost"}, -1)).code(), Code::failed_precondition);
  const TlsFiles other = ca.server("other", {"localhost"});
  EXPECT_EQ(checked({.certificate = good.certificate, .key = other.key, .ca = ""}).code(),
            Code::failed_precondition);
}

TEST(ServingFiles, ThatAreMissingOrNoGoodAreErrorsOfTheConfig) {
  TestAuthority ca;
  const TlsFiles good = ca.server("good", {"localhost"});
  ca.write("no.crt", "nothing");
  EXPECT_EQ(checked({.certificate = "/nowhere", .key = good.key, .ca = ""}).code(),
            Code::invalid_argument);
  EXPECT_EQ(checked({.certificate = ca.path("no.crt"), .key = good.key, .ca = ""}).code(),
            Code::invalid_argument);
  ::chmod(good.key.c_str(), 0644);
  EXPECT_EQ(checked(good).code(), Code::invalid_argument);
}

TEST(ServingFiles, ThePeersSecretIsOfTheAuthoritysKey) {
  TestAuthority ca;
  ServerConfig config;
  EXPECT_EQ(read_peer_secret(config).value(), "");
  config.authority = ca.path("");
  const Status missing = read_peer_secret(config).status();
  EXPECT_EQ(missing.code(), Code::invalid_argument);
  EXPECT_TRUE(missing.message().starts_with("tls.authority: cannot read ")) << missing.message();
  ca.write("ca.key", "key");
  EXPECT_EQ(read_peer_secret(config).value(), peer_secret_of("key"));
}

}  // namespace
}  // namespace hai
