#include <gtest/gtest.h>

#include "common/tls/certificate.h"
#include "tests/support/certificates.h"

namespace hai {
namespace {

CertificateFacts facts_of(const std::string& path) {
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return read_certificate(text).value();
}

TEST(Authority, IssuesForServersAndForNodes) {
  TestAuthority ca;
  const CertificateFacts authority = facts_of(ca.ca());
  EXPECT_TRUE(authority.is_authority);
  const CertificateFacts server =
      facts_of(ca.server("s", {"hai.example", "10.0.0.1", "::1"}).certificate);
  EXPECT_EQ(server.names, (std::vector<std::string>{"hai.example", "10.0.0.1", "::1"}));
  EXPECT_EQ(server.node, "");
  EXPECT_FALSE(server.is_authority);
  EXPECT_EQ(server.issuer, authority.subject);
  const CertificateFacts node = facts_of(ca.node("n", "node-1").certificate);
  EXPECT_EQ(node.node, "node-1");
  EXPECT_TRUE(node.names.empty()) << "it is no server";
  EXPECT_NE(node.fingerprint, server.fingerprint);
}

TEST(Authority, RefusesNamesThatWouldSayMore) {
  const KeyAndCertificate ca = make_authority().value();
  for (const std::string name : {"", "a,DNS:b", "a b", "-a", "hai:node:n1", "a\nb"}) {
    EXPECT_EQ(issue_for_server(ca, {name}).status().code(), Code::invalid_argument) << name;
  }
  EXPECT_EQ(issue_for_server(ca, {}).status().code(), Code::invalid_argument);
  for (const std::string node : {"", "n1,URI:hai:node:n2", "n 1"}) {
    EXPECT_EQ(issue_for_node(ca, node).status().code(), Code::invalid_argument) << node;
  }
  const KeyAndCertificate other = make_authority().value();
  EXPECT_FALSE(issue_for_node({.key = other.key, .certificate = ca.certificate}, "n1").is_ok());
}

TEST(Authority, OnlyOneInForceIssuesAndNothingOutlivesIt) {
  const KeyAndCertificate young = make_authority(30).value();
  const CertificateFacts ca = read_certificate(young.certificate).value();
  const auto issued = [&](int days) {
    return read_certificate(issue_for_node(young, "n1", days).value().certificate).value().ends;
  };
  EXPECT_EQ(issued(365), ca.ends);
  EXPECT_LT(issued(29), ca.ends);
  const Status expired = issue_for_node(make_authority(-1).value(), "n1").status();
  EXPECT_EQ(expired.message(), "this authority has expired: make a new one");
  const Status leaf = issue_for_server(issue_for_node(young, "n1").value(), {"a"}).status();
  EXPECT_EQ(leaf.message(), "this is no authority: its certificate is that of a server or node");
}

TEST(TlsFiles, EachMistakeIsSaidWithItsFile) {
  TestAuthority ca;
  const TlsFiles good = ca.server("good", {"localhost"});
  EXPECT_TRUE(read_tls_files(good).is_ok());
  EXPECT_TRUE(read_tls_files({}).is_ok());
  const auto said = [](const TlsFiles& files) { return read_tls_files(files).status().message(); };
  const TlsFiles other = ca.server("other", {"localhost"});
  EXPECT_EQ(said({.certificate = good.certificate, .key = other.key}),
            other.key + " is not the key of " + good.certificate);
  EXPECT_EQ(read_tls_files({.certificate = good.certificate, .key = other.key}).status().code(),
            Code::failed_precondition)
      << "it may be half replaced";
  EXPECT_EQ(said({.ca = "/nowhere"}), "cannot read /nowhere: No such file or directory");
  const TlsFiles expired = ca.server("old", {"localhost"}, -1);
  EXPECT_TRUE(said(expired).starts_with(expired.certificate + ": the certificate "))
      << said(expired);
  EXPECT_NE(said(expired).find(" has expired on "), std::string::npos) << said(expired);
  ca.write("no.crt", "nothing");
  EXPECT_EQ(said({.ca = ca.path("no.crt")}), ca.path("no.crt") + ": no certificate in PEM");
  ::chmod(good.key.c_str(), 0644);
  EXPECT_EQ(said(good), good.key + ": mode 0644 lets others at the key: chmod 640 or less");
  EXPECT_FALSE(read_tls_files({.certificate = good.certificate}).is_ok());
}

// Found by review: only the first certificate of a CA's file was looked at.
TEST(TlsFiles, OfSeveralAuthoritiesOneInForceIsEnough) {
  TestAuthority ca;
  const std::string old = make_authority(-1).value().certificate;
  const std::string leaf = issue_for_node(make_authority().value(), "n1").value().certificate;
  ca.write("both.crt", old + ca.ca_text());
  const TlsFiles both{.ca = ca.path("both.crt")};
  EXPECT_TRUE(read_tls_files(both).is_ok()) << read_tls_files(both).status().message();
  ASSERT_EQ(warnings_of(both).size(), 1u);
  EXPECT_NE(warnings_of(both)[0].find(" has expired on "), std::string::npos);
  EXPECT_TRUE(warnings_of({.ca = ca.ca()}).empty());

  ca.write("old.crt", old + old);
  EXPECT_NE(read_tls_files({.ca = ca.path("old.crt")})
                .status()
                .message()
                .find("none of its 2 certificates is of a CA and in force"),
            std::string::npos);
  ca.write("leaf.crt", leaf);
  EXPECT_EQ(read_tls_files({.ca = ca.path("leaf.crt")}).status().message(),
            ca.path("leaf.crt") + ": the certificate CN=n1,OU=hai-node is no CA's");
}

// Found by review: while the CA is changed, the one that has issued the certificate stands second.
TEST(TlsFiles, AServerIsBelievedByItsOwnCaOrByTheMachines) {
  TestAuthority ca;
  TlsFiles server = ca.server("s", {"localhost"});
  EXPECT_EQ(ca_that_vouches(server).value(), ca.ca());
  ca.write("both.crt", make_authority().value().certificate + ca.ca_text());
  server.ca = ca.path("both.crt");
  EXPECT_EQ(ca_that_vouches(server).value(), server.ca);
  ca.write("nodes.crt", make_authority().value().certificate);
  server.ca = ca.path("nodes.crt");
  EXPECT_EQ(ca_that_vouches(server).value(), kSystemCa) << "that is of the nodes' certificates";
  server.ca = "";
  EXPECT_EQ(ca_that_vouches(server).value(), kSystemCa);
  server.certificate = "/nowhere";
  EXPECT_FALSE(ca_that_vouches(server).is_ok());
}

TEST(Certificate, IsToBeRenewedAMonthBeforeItsEndOrInTheLastQuarterOfAShortLife) {
  const auto notice = [](Duration life) {
    return renewal_notice({.begins = UnixTime(1h), .ends = UnixTime(1h + life)});
  };
  EXPECT_EQ(notice(24h * 365), Duration(24h * 30));
  EXPECT_EQ(notice(24h * 8), Duration(24h * 2));
}

}  // namespace
}  // namespace hai
