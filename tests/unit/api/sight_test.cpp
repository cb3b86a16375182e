#include "server/api/sight.h"

#include <gmock/gmock.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

Cluster people() {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.emit(UserSet{{.name = "ann", .groups = {"vision", "all"}}});
  c.emit(UserSet{{.name = "bob", .groups = {"vision"}}});
  c.emit(UserSet{{.name = "eve", .groups = {"audio"}}});
  return c;
}
const Actor kAnn{.user = "ann"};

TEST(Sight, IsAsTheSiteSays) {
  const Cluster c = people();
  const auto sees = [&](Visibility visibility, const Actor& actor) {
    std::string seen;
    for (const char* user : {"ann", "bob", "eve"}) {
      if (Sight::of(visibility, c.state(), actor).sees(user)) seen += user;
    }
    return seen;
  };
  EXPECT_EQ(sees(Visibility::all, kAnn), "annbobeve");
  EXPECT_EQ(sees(Visibility::team, kAnn), "annbob");
  EXPECT_EQ(sees(Visibility::own, kAnn), "ann");
  EXPECT_EQ(sees(Visibility::own, {.user = "ann", .role = Role::operator_}), "annbobeve");
  EXPECT_EQ(sees(Visibility::team, {.user = "nobody"}), "") << "who is in no group has no team";
}

TEST(Sight, OfOneSelfIsNotEmptyWithoutGroups) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.emit(UserSet{{.name = "zoe"}});
  c.emit(UserSet{{.name = "yan"}});
  const Sight sight = Sight::of(Visibility::team, c.state(), {.user = "zoe"});
  EXPECT_TRUE(sight.sees("zoe"));
  EXPECT_FALSE(sight.sees("yan")) << "that both are in no group makes them no team";
}

TEST(Sight, CleansSentencesOfOthersJobs) {
  const Sight ann{.users = std::set<std::string>{"ann"}};
  EXPECT_EQ(ann.clean("makes room for job 17 (secret-plan) of eve, priority high"),
            "makes room for a job of somebody else, priority high");
  EXPECT_EQ(ann.clean("makes room for job 18 (mine) of ann, priority high"),
            "makes room for job 18 (mine) of ann, priority high");
  EXPECT_EQ(ann.clean("job 17 (secret-plan) hangs since 10:00"), "job 17 hangs since 10:00");
  EXPECT_EQ(ann.clean("job 1 (a) of eve and job 2 (b) of ann and job 3 (c) of bob"),
            "a job of somebody else and job 2 (b) of ann and a job of somebody else");
  EXPECT_EQ(ann.clean("job (x) job 5 job 6 ("), "job (x) job 5 job 6 (");
  EXPECT_EQ(ann.clean(R"({"reason":"for job 17 (secret-plan) of eve"})"),
            R"({"reason":"for a job of somebody else"})");
  EXPECT_EQ(Sight{}.clean("job 17 (secret-plan) of eve"), "job 17 (secret-plan) of eve");
}

TEST(Sight, ChecksNumbersOnly) {
  Cluster c = people();
  const JobId job = c.submit(hai::test::job("plan").user("eve"));
  const Sight ann = Sight::of(Visibility::own, c.state(), kAnn);
  const std::string number = std::to_string(job.value);
  EXPECT_EQ(ann.check(c.state(), {number}).code(), Code::not_found);
  EXPECT_TRUE(ann.check(c.state(), {"plan", "99"}).is_ok());
  EXPECT_TRUE(Sight{}.check(c.state(), {number}).is_ok());
}

}  // namespace
}  // namespace hai::test
