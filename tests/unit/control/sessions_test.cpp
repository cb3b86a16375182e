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

// What the reports without a grant say changes nothing of what is proven.
TEST(Sessions, ALeaseIsProvenAlthoughNotEachReportIsGranted) {
  Sessions sessions;
  sessions.open(ConnectionId{1}, "a");
  Session& session = *sessions.find(ConnectionId{1});
  sessions.bind(session, NodeId{7});
  const auto report = [&](int64_t sequence, int64_t granted, MonoTime now) {
    sessions.report_confirms(session, sequence, granted, 30s, now);
    return sessions.proven_lease(NodeId{7}).until;
  };
  sessions.grant_leaves(session, 1, MonoTime(1s));
  EXPECT_EQ(report(2, 1, MonoTime(2s)), MonoTime{}) << "nothing says when report 1 was sent";
  EXPECT_EQ(report(3, 1, MonoTime(3s)), MonoTime{});
  sessions.grant_leaves(session, 3, MonoTime(3s));
  EXPECT_EQ(report(4, 1, MonoTime(4s)), MonoTime{}) << "sent before the grant arrived";
  EXPECT_EQ(report(5, 3, MonoTime(5s)), MonoTime(31s)) << "report 3 was sent after grant 1 left";
  EXPECT_EQ(report(6, 3, MonoTime(6s)), MonoTime(31s));
  sessions.grant_leaves(session, 6, MonoTime(6s));
  EXPECT_EQ(report(7, 6, MonoTime(7s)), MonoTime(33s));
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
