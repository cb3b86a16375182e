#include "server/api/caller_board.h"

#include <gmock/gmock.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

// Ann has the token "hash-a", the board follows what becomes of her.
struct World {
  Cluster c = cluster(nodes(1, gpus(8)));
  CallerBoard board;

  void tell(EventBody body) {
    c.emit(body);
    Event event;
    event.body = std::move(body);
    board.follow({event}, c.state());
  }
  World() {
    c.emit(UserSet{{.name = "ann"}});
    c.emit(TokenSet{{.hash = "hash-a", .user = "ann"}});
  }
  Code admit(const std::string& hash) const {
    const Status status = board.admit({.token_hash = hash});
    return status.is_ok() ? Code::ok : status.code();
  }
};

TEST(CallerBoard, LetsAllPassUntilItHasBeenTold) {
  World w;
  EXPECT_EQ(w.admit("nobody"), Code::ok) << "the loop decides";
  EXPECT_FALSE(w.board.knows({.token_hash = "hash-a"})) << "but nobody is known";
  w.tell(EpochStarted{Epoch{2}});
  EXPECT_EQ(w.admit("nobody"), Code::unauthenticated);
  EXPECT_EQ(w.admit("hash-a"), Code::ok);
  EXPECT_TRUE(w.board.knows({.token_hash = "hash-a"}));
  w.board.forget();
  EXPECT_EQ(w.admit("nobody"), Code::ok);
}

TEST(CallerBoard, SaysWhyInTheWordsOfTheLoop) {
  World w;
  w.tell(EpochStarted{Epoch{2}});
  EXPECT_THAT(w.board.admit({}).message(), HasSubstr("no token"));
  EXPECT_THAT(w.board.admit({.token_hash = "x"}).message(), HasSubstr("not known here"));
}

TEST(CallerBoard, FollowsTokensAndUsers) {
  World w;
  w.tell(EpochStarted{Epoch{2}});
  w.tell(TokenSet{{.hash = "hash-b", .user = "ann"}});
  EXPECT_EQ(w.admit("hash-b"), Code::ok);
  w.tell(TokenRevoked{"hash-a"});
  EXPECT_EQ(w.admit("hash-a"), Code::unauthenticated);
  w.tell(UserSet{{.name = "ann", .active = false}});
  EXPECT_EQ(w.admit("hash-b"), Code::permission_denied);
  EXPECT_FALSE(w.board.knows({.token_hash = "hash-b"}));
}

}  // namespace
}  // namespace hai::test
