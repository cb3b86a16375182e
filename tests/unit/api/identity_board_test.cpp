#include "server/api/identity_board.h"

#include <gmock/gmock.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

struct IdentityWorld {
  Cluster c = cluster(nodes(1, gpus(8)));
  IdentityBoard board;

  bool tell(EventBody body) {
    c.emit(body);
    Event event;
    event.body = std::move(body);
    return board.follow({event}, c.state());
  }
  bool believes(const std::string& node, int64_t begins) const {
    return board.admit(node, unix_micros(begins)).is_ok();
  }
};

NodeIdentitySet revoked(const std::string& node, int64_t at) {
  return {.identity = {.node = node, .revoked_at = unix_micros(at)}};
}

TEST(IdentityBoard, BelievesWhatBeginsAfterTheRevocationOnly) {
  IdentityWorld w;
  EXPECT_TRUE(w.believes("node-1", 0)) << "nothing is known of it";
  EXPECT_TRUE(w.tell(revoked("node-1", 5'500'000)));
  EXPECT_FALSE(w.believes("node-1", 5'000'000));
  EXPECT_FALSE(w.believes("node-1", 5'500'000)) << "until then, and at that moment";
  EXPECT_TRUE(w.believes("node-1", 6'000'000));
  EXPECT_TRUE(w.believes("node-2", 0)) << "of that node only";
}

TEST(IdentityBoard, KnowsOfRevocationsBeforeItsLeaderCame) {
  IdentityWorld w;
  w.c.emit(revoked("node-1", 5'000'000));
  EXPECT_TRUE(w.believes("node-1", 0));
  EXPECT_TRUE(w.tell(EpochStarted{Epoch{2}}));
  EXPECT_FALSE(w.believes("node-1", 0));
}

TEST(IdentityBoard, DoesNothingForOtherEvents) {
  IdentityWorld w;
  EXPECT_FALSE(w.tell(NodeIdentitySet{.identity = {.node = "node-1", .serial = "1"}}));
  EXPECT_FALSE(w.tell(UserSet{{.name = "ann"}}));
}

}  // namespace
}  // namespace hai::test
