// Who a caller is, and which job he means.

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

TEST(Authenticate, KnowsTokensAndTrustedNames) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  c.emit(TokenSet{{.hash = "h", .user = "bob"}});
  EXPECT_EQ(authenticate(c.state(), {.token_hash = "h"}, UnixTime{}).value().user, "bob");
  EXPECT_EQ(authenticate(c.state(), {.trusted_user = "ann"}, UnixTime{}).value().role, Role::admin);
}

TEST(Authenticate, RefusesTheRest) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  c.emit(TokenSet{{.hash = "bob", .user = "bob"}});
  c.emit(TokenSet{{.hash = "gone", .user = "nobody"}});
  EXPECT_EQ(authenticate(c.state(), {}, UnixTime{}).status().code(), Code::unauthenticated);
  EXPECT_EQ(authenticate(c.state(), {.token_hash = "x"}, UnixTime{}).status().code(),
            Code::unauthenticated);
  EXPECT_EQ(authenticate(c.state(), {.token_hash = "gone"}, UnixTime{}).status().code(),
            Code::unauthenticated);
  c.emit(UserSet{{.name = "bob", .active = false}});
  EXPECT_EQ(authenticate(c.state(), {.token_hash = "bob"}, UnixTime{}).status().code(),
            Code::permission_denied);
  c.emit(TokenRevoked{"bob"});
  EXPECT_EQ(authenticate(c.state(), {.token_hash = "bob"}, UnixTime{}).status().code(),
            Code::unauthenticated);
}

TEST(FindControllable, ByIdOrByTheCallersUnfinishedName) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob").add_user("olga", {}, Role::operator_);
  JobId anns = c.submit(job("train"));
  JobId bobs = c.submit(job("train").user("bob"));
  Actor bob{"bob", Role::user};
  Actor olga{"olga", Role::operator_};
  EXPECT_EQ(find_controllable(c.state(), bob, "train").value()->id, bobs);
  EXPECT_EQ(find_controllable(c.state(), bob, "2").value()->id, bobs);
  EXPECT_EQ(find_controllable(c.state(), olga, "1").value()->id, anns);
  EXPECT_EQ(find_controllable(c.state(), bob, "1").status().code(), Code::permission_denied);
  EXPECT_EQ(find_controllable(c.state(), olga, "train").status().code(), Code::not_found)
      << "a name means one's own job";
}

TEST(FindControllable, TellsMissingFromEnded) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.finish(c.submit(job("old")));
  ClusterState state = c.state();
  state.evict_finished(0);
  Actor ann{"ann", Role::admin};
  EXPECT_EQ(find_controllable(state, ann, "1").status().code(), Code::failed_precondition);
  EXPECT_EQ(find_controllable(state, ann, "2").status().code(), Code::not_found);
  EXPECT_EQ(find_controllable(state, ann, "-1").status().code(), Code::not_found);
  EXPECT_EQ(find_controllable(state, ann, "old").status().code(), Code::not_found);
  EXPECT_EQ(find_controllable(state, ann, "").status().code(), Code::not_found);
}

}  // namespace
}  // namespace hai::test
