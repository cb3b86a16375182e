// Which connection speaks for which node.

#include "server/control/sessions.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(Sessions, ANewConnectionReplacesTheNodesOldOne) {
  Sessions sessions;
  EXPECT_FALSE(sessions.open(ConnectionId{1}, "a"));
  sessions.bind(*sessions.find(ConnectionId{1}), NodeId{7});
  EXPECT_EQ(sessions.open(ConnectionId{2}, "a"), ConnectionId{1});
  EXPECT_EQ(sessions.find(ConnectionId{1}), nullptr);
  EXPECT_EQ(sessions.find(NodeId{7}), nullptr) << "the new one has said nothing yet";
  sessions.bind(*sessions.find(ConnectionId{2}), NodeId{7});
  sessions.close(ConnectionId{1});
  EXPECT_EQ(sessions.find(NodeId{7})->connection, ConnectionId{2})
      << "the old one's end must not end the new one";
}

TEST(Sessions, ContactIsAtLeastTheStartOfTheTerm) {
  Sessions sessions;
  sessions.set_term_start(MonoTime(5s));
  EXPECT_EQ(sessions.contact(NodeId{1}), MonoTime(5s));
  sessions.set_contact(NodeId{1}, MonoTime(9s));
  EXPECT_EQ(sessions.contact(NodeId{1}), MonoTime(9s));
  sessions.set_term_start(MonoTime(20s));
  EXPECT_EQ(sessions.contact(NodeId{1}), MonoTime(20s));
}

TEST(Sessions, CloseAllForgetsEverything) {
  Sessions sessions;
  sessions.open(ConnectionId{1}, "a");
  sessions.open(ConnectionId{2}, "b");
  sessions.bind(*sessions.find(ConnectionId{2}), NodeId{7});
  EXPECT_EQ(sessions.close_all(), (std::vector<ConnectionId>{ConnectionId{1}, ConnectionId{2}}));
  EXPECT_EQ(sessions.find(NodeId{7}), nullptr);
  EXPECT_FALSE(sessions.open(ConnectionId{3}, "a"));
}

}  // namespace
}  // namespace hai
