#include "server/setup/database_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>

#include "common/doctor/look.h"
#include "common/tls/certificate.h"
#include "common/tls/replace_file.h"

namespace hai {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class DatabasePair : public testing::Test {
 protected:
  DatabasePair() {
    std::string path = testing::TempDir() + "/hai-pair-XXXXXX";
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    folder_ = std::make_unique<AuthorityFolder>(path);
    EXPECT_TRUE(folder_->write_authority(make_authority().value()).is_ok());
  }
  ~DatabasePair() override { std::filesystem::remove_all(folder_->path()); }

  // As --add-server does it: PostgreSQL shows it from then on. Whether another one was issued.
  bool give(const std::string& name, const std::string& servers = "") {
    const Result<KeyAndCertificate> pair = pair_for_database(*folder_, shown_, name, servers, now_);
    EXPECT_TRUE(pair.is_ok()) << pair.status().message();
    shown_ = {.has_tls = true,
              .file = shown_.place,
              .certificate = pair.value().certificate,
              .place = shown_.place};
    EXPECT_TRUE(replace_file(folder_->database_certificate(), shown_.certificate, 0644).is_ok());
    return !pair.value().key.empty();
  }
  std::string still() { return pair_still_to_change(*folder_, shown_.certificate).value(); }
  std::vector<std::string> names() { return read_certificate(shown_.certificate).value().names; }
  bool is_of_now() {
    return is_issued_by(shown_.certificate, own_certificate(folder_->read().value()).value());
  }
  void rotate() { ASSERT_TRUE(folder_->rotate(make_authority().value()).is_ok()); }

  UnixTime now_ = clock_now();
  std::unique_ptr<AuthorityFolder> folder_;
  ShownPair shown_{.has_tls = true,
                   .file = "/etc/ssl/certs/ssl-cert-snakeoil.pem",
                   .place = "/etc/postgresql/15/main/hai.pem"};
};

TEST_F(DatabasePair, StaysWhereItWillDo) {
  EXPECT_TRUE(give("db"));
  EXPECT_THAT(read_certificate(shown_.certificate).value().subject, HasSubstr("OU=hai-database"));
  const std::string first = shown_.certificate;
  EXPECT_FALSE(give("db"));
  EXPECT_EQ(shown_.certificate, first);
  shown_.has_tls = false;  // somebody has switched it off
  EXPECT_FALSE(give("db"));
}

// Further servers of before dial by the name of their day.
TEST_F(DatabasePair, IsForTheNamesOfBeforeToo) {
  give("old");
  EXPECT_TRUE(give("new"));
  EXPECT_THAT(names(), UnorderedElementsAre("old", "new"));
  EXPECT_FALSE(give("old"));
  shown_.certificate = "";  // a PostgreSQL that was made anew
  const KeyAndCertificate ours =
      issue_for_server(folder_->read().value(), {"new", "third"}).value();
  EXPECT_TRUE(give("new", ours.certificate));
  EXPECT_THAT(names(), UnorderedElementsAre("old", "new", "third"));
  const KeyAndCertificate others = issue_for_server(make_authority().value(), {"stranger"}).value();
  EXPECT_TRUE(give("fourth", others.certificate));
  EXPECT_THAT(names(), UnorderedElementsAre("old", "new", "third", "fourth"));
}

// Of setup as it was before, in the data directory and with the name of a server.
TEST_F(DatabasePair, OfBeforeIsReplaced) {
  shown_.file = "/var/lib/postgresql/15/main/hai.pem";
  shown_.certificate =
      issue_for_server(folder_->read().value(), {"old"}, kAuthorityDays).value().certificate;
  EXPECT_TRUE(give("new"));
  EXPECT_THAT(names(), UnorderedElementsAre("old", "new"));
  EXPECT_THAT(read_certificate(shown_.certificate).value().subject, HasSubstr("OU=hai-database"));
}

TEST_F(DatabasePair, NearItsEndIsReplaced) {
  give("db");
  now_ = clock_now() + (kAuthorityDays - 31) * Duration(24h);
  EXPECT_FALSE(give("db"));
  now_ += 2 * Duration(24h);
  EXPECT_TRUE(give("db"));
}

// Further servers have the old CA only until somebody has brought them the new one.
TEST_F(DatabasePair, StaysOfTheOldCaUntilItsCopyIsMovedAway) {
  give("db");
  EXPECT_EQ(still(), "");
  const std::string old = folder_->read().value().certificate;
  rotate();
  EXPECT_FALSE(give("db"));
  EXPECT_TRUE(give("new"));
  EXPECT_TRUE(is_issued_by(shown_.certificate, old));
  EXPECT_THAT(still(), HasSubstr("move " + folder_->database_certificate() + " away"));
  const Status kept = folder_->retire();
  EXPECT_EQ(kept.code(), Code::failed_precondition);
  EXPECT_THAT(kept.message(), HasSubstr("run `hai-server setup --add-server`"));
  std::filesystem::remove(folder_->database_certificate());
  EXPECT_TRUE(give("new"));
  EXPECT_TRUE(is_of_now());
  EXPECT_THAT(names(), UnorderedElementsAre("db", "new"));
  EXPECT_EQ(still(), "");
  EXPECT_FALSE(give("new"));
  EXPECT_TRUE(give("third")) << "as the one before";
  EXPECT_TRUE(is_of_now());
  EXPECT_TRUE(folder_->retire().is_ok());
  EXPECT_FALSE(give("third"));
}

TEST_F(DatabasePair, OfACaThatIsGoneIsReplaced) {
  give("db");
  rotate();
  std::filesystem::remove(folder_->database_certificate());
  ASSERT_TRUE(folder_->retire().is_ok());
  EXPECT_TRUE(give("db"));
  EXPECT_TRUE(is_of_now());
}

TEST_F(DatabasePair, NeedsTheOldKeyWhileTheCaIsChanged) {
  rotate();
  std::filesystem::remove(folder_->path() + "/ca-old.key");
  const Status status = pair_for_database(*folder_, shown_, "db", "", now_).status();
  EXPECT_EQ(status.code(), Code::failed_precondition);
  EXPECT_THAT(status.message(), HasSubstr("ca-old.key"));
}

TEST_F(DatabasePair, TakesTheCertificateOfNoSiteAway) {
  const KeyAndCertificate ca = folder_->read().value();
  const std::string own = issue_for_database(ca, {"a"}).value().certificate;
  const std::string before = issue_for_server(ca, {"a"}).value().certificate;
  EXPECT_TRUE(is_spare_certificate("/etc/ssl/certs/ssl-cert-snakeoil.pem", "x"));
  for (const std::string& text : {own, before, std::string()}) {
    EXPECT_TRUE(is_spare_certificate("/etc/postgresql/15/main/hai.pem", text));
  }
  EXPECT_FALSE(is_spare_certificate("/etc/ssl/hai.pem", ca.certificate)) << "of the site";
  EXPECT_FALSE(is_spare_certificate("/etc/ssl/site.pem", own));
}

TEST(PlaceOfPair, IsOutsideTheDataDirectory) {
  EXPECT_EQ(folder_of_pair("/var/lib/postgresql/15/main", "/etc/postgresql/15/main/pg_hba.conf"),
            "/etc/postgresql/15/main");
  for (const char* inside : {"/srv/pg/pg_hba.conf", "/srv/pg/conf/pg_hba.conf"}) {
    EXPECT_EQ(folder_of_pair("/srv/pg", inside), "/srv/pg") << inside;
  }
  EXPECT_EQ(folder_of_pair("/srv/pg", "/srv/pg2/pg_hba.conf"), "/srv/pg2");
}

TEST(ShownPair, ComesBackAsItWas) {
  const ShownPair shown{.has_tls = true,
                        .file = "/a b/c.pem",
                        .certificate = "x\ny\n",
                        .place = "/d/hai.pem",
                        .is_in_data = true};
  const ShownPair back = parse_shown(format_shown(shown));
  EXPECT_TRUE(back.has_tls && back.is_in_data);
  EXPECT_EQ(back.file, shown.file);
  EXPECT_EQ(back.place, shown.place);
  EXPECT_EQ(back.certificate, shown.certificate);
  EXPECT_EQ(parse_shown(format_shown({.file = "/a"})).certificate, "");
}

}  // namespace
}  // namespace hai
