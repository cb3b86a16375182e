#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/setup/cluster_database.h"
#include "server/setup/database_check.h"
#include "server/store/conninfo.h"
#include "server/store/migrations.h"

namespace hai {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ClusterMark, ComesBackAsItWas) {
  const ClusterMark mark{.id = "00ff", .cluster = "fire drill's"};
  EXPECT_EQ(parse_mark(format_mark(mark)), mark);
  for (const char* text : {"", "a comment", "hai cluster ", "hai cluster  x", "hai cluster 00ff"}) {
    EXPECT_EQ(parse_mark(text), std::nullopt) << text;
  }
}

TEST(DatabaseFacts, ComeBackAsTheyWere) {
  const DatabaseFacts empty;
  EXPECT_EQ(parse_facts(format_facts(empty)).value(), empty);
  const DatabaseFacts full{.is_there = true,
                           .server_version = 150'004,
                           .is_replica = true,
                           .schema = 10,
                           .has_people = true,
                           .mark = ClusterMark{"00ff", "fire"}};
  EXPECT_EQ(parse_facts(format_facts(full)).value(), full);
  EXPECT_FALSE(parse_facts("no").is_ok());
}

TEST(JudgeDatabase, WhoseItIs) {
  const DatabaseFacts fresh{.is_there = true, .server_version = 150'004};
  EXPECT_TRUE(judge_database(fresh, "00ff", false).is_ok());
  DatabaseFacts marked = fresh;
  marked.has_people = true;
  marked.mark = ClusterMark{"00ff", "fire"};
  EXPECT_TRUE(judge_database(marked, "00ff", false).is_ok());
  EXPECT_THAT(judge_database(marked, "1111", true).message(),
              HasSubstr("belongs to another cluster, fire"));
  DatabaseFacts by_hand = marked;
  by_hand.mark.reset();
  EXPECT_THAT(judge_database(by_hand, "00ff", false).message(), HasSubstr("has a cluster already"));
  EXPECT_TRUE(judge_database(by_hand, "00ff", true).is_ok());
}

// A setup that was killed between the two has no key that could be put back.
TEST(IsFounded, ByTheSchemaThatComesAfterTheMark) {
  DatabaseFacts facts{.is_there = true, .server_version = 150'004};
  EXPECT_FALSE(is_founded(facts));
  facts.mark = ClusterMark{"00ff", "fire"};
  EXPECT_FALSE(is_founded(facts));
  facts.schema = 1;
  EXPECT_TRUE(is_founded(facts));
  facts.mark.reset();
  EXPECT_FALSE(is_founded(facts));
}

TEST(JudgeSchema, NeedsAClusterThatIsAsNew) {
  DatabaseFacts facts{
      .is_there = true, .server_version = 150'004, .mark = ClusterMark{"0", "fire"}};
  EXPECT_TRUE(judge_schema(facts).is_ok()) << "not founded yet";
  facts.schema = latest_schema_version();
  EXPECT_TRUE(judge_schema(facts).is_ok());
  facts.schema -= 1;
  EXPECT_EQ(judge_schema(facts).code(), Code::failed_precondition);
  EXPECT_THAT(judge_schema(facts).message(), HasSubstr("upgrade the other servers first"));
}

TEST(JudgeDatabase, WhetherItWillDo) {
  EXPECT_THAT(judge_database({.server_version = 140'011}, "x", false).message(),
              HasSubstr("is PostgreSQL 14.11: move it to PostgreSQL 15"));
  EXPECT_THAT(judge_database({.server_version = 150'000, .is_replica = true}, "x", false).message(),
              HasSubstr("is a replica"));
}

TEST(Conninfo, MayHaveNoPassword) {
  for (const char* text :
       {"host=a,b dbname=hai passfile=/etc/hai/pgpass target_session_attrs=read-write",
        "postgresql://hai@db1:5432,db2:5432/hai?passfile=/x", ""}) {
    EXPECT_TRUE(check_conninfo(text).is_ok()) << text;
  }
  for (const char* text : {"host=a password=x", "host = a password = 'x y'",
                           "postgresql://hai:x@db/hai", "postgresql://db/hai?password=x"}) {
    EXPECT_THAT(check_conninfo(text).message(), HasSubstr("passfile=/etc/hai/pgpass")) << text;
  }
  EXPECT_THAT(check_conninfo("hosst=a").message(), HasSubstr("invalid connection option"));
}

TEST(Conninfo, IsShownWithoutPasswords) {
  for (const char* text : {"host=a dbname=hai", "postgresql://hai@db/hai?passfile=/x", ""}) {
    EXPECT_EQ(shown_conninfo(text), text);
  }
  EXPECT_EQ(shown_conninfo("user=u password='x y' host=a"), "host=a password=*** user=u");
  EXPECT_EQ(shown_conninfo("postgresql://u:secret@db/hai"),
            "dbname=hai host=db password=*** user=u");
  EXPECT_THAT(shown_conninfo("host=a sslpassword=secret"), Not(HasSubstr("secret")));
  EXPECT_THAT(shown_conninfo("password=a secret"), Not(HasSubstr("secret")));
}

TEST(Conninfo, NamesItsPassfile) {
  EXPECT_EQ(passfile_of("host=a passfile=/etc/hai/pgpass"), "/etc/hai/pgpass");
  EXPECT_EQ(passfile_of("postgresql://db/hai?passfile=/x"), "/x");
  EXPECT_EQ(passfile_of("host=a"), "");
}

TEST(Conninfo, NamesTheCaOfItsDatabase) {
  EXPECT_EQ(root_certificate_of("host=a sslrootcert='/a b/ca.crt'"), "/a b/ca.crt");
  for (const char* text : {"host=a", "host=a sslrootcert=system"}) {
    EXPECT_EQ(root_certificate_of(text), "") << text;
  }
}

TEST(Conninfo, MustNotLetOthersReadWhatIsSaid) {
  for (const char* text : {"dbname=hai", "host=/run/postgresql sslmode=disable", "host=127.0.0.1",
                           "host=db sslmode=require", "host=a,b sslmode=verify-ca",
                           "postgresql://db/hai?sslmode=verify-full"}) {
    EXPECT_FALSE(fault_of_transport(text).has_value()) << text;
    EXPECT_EQ(judge_transport(text).verdict, Verdict::ok) << text;
  }
  for (const char* text :
       {"host=db", "host=/run,db sslmode=prefer", "hostaddr=10.0.0.1 sslmode=allow",
        "host=db sslmode=disable", "postgresql://hai@db/hai"}) {
    ASSERT_TRUE(fault_of_transport(text).has_value()) << text;
    EXPECT_THAT(fault_of_transport(text)->remedy, HasSubstr("sslmode=require")) << text;
    EXPECT_EQ(judge_transport(text).verdict, Verdict::warn) << text;
  }
  EXPECT_THAT(fault_of_transport("host=db sslmode=prefer")->found, HasSubstr("sslmode=prefer:"));
}

TEST(Conninfo, WhetherOthersReachIt) {
  for (const char* text : {"dbname=hai", "host=/run/postgresql", "host=localhost", "host=127.0.0.1",
                           "postgresql:///hai", "postgresql://[::1]/hai"}) {
    EXPECT_TRUE(is_local_conninfo(text)) << text;
  }
  for (const char* text : {"host=db1,localhost", "hostaddr=10.0.0.1", "host=/run,db2",
                           "postgresql://hai@db1,db2/hai"}) {
    EXPECT_FALSE(is_local_conninfo(text)) << text;
  }
}

std::vector<Verdict> verdicts(const DatabaseHealth& health) {
  std::vector<Verdict> all;
  for (const Finding& finding : judge_database_health("db", health)) all.push_back(finding.verdict);
  return all;
}

// Version, schema, writable, replicas, clock.
TEST(JudgeDatabaseHealth, EachThing) {
  using enum Verdict;
  const DatabaseHealth well{
      .server_version = 150'004, .schema = latest_schema_version(), .replicas = 2};
  EXPECT_EQ(verdicts(well), (std::vector{ok, ok, ok, ok, ok}));
  DatabaseHealth other = well;
  other.server_version = 140'000;
  other.schema -= 1;
  other.is_read_only = true;
  other.replicas = 0;
  other.clock_ahead = 90s;
  EXPECT_EQ(verdicts(other), (std::vector{fail, fail, fail, warn, fail}));
  other = well;
  other.schema += 1;
  other.is_replica = true;  // its own replicas are nobody's concern
  EXPECT_EQ(verdicts(other), (std::vector{ok, fail, fail, ok}));
}

}  // namespace
}  // namespace hai
