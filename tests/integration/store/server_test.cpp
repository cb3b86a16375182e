// The list of servers that the store keeps.

#include "server/store/history.h"
#include "tests/integration/store/store_fixture.h"

namespace hai {
namespace {

using Servers = std::vector<std::string>;

class ServerTableTest : public StoreFixture {
 protected:
  Servers note(PgHistory& history, const std::string& own, Duration keep = 1h) {
    return (*wait<Result<Servers>>([&](auto done) { history.note(own, keep, done); })).value();
  }
};

TEST_F(ServerTableTest, HasEachOnceUntilItIsSilentForLong) {
  PgHistory history(loop_, conninfo_);
  PgHistory other(loop_, conninfo_);
  EXPECT_EQ(note(history, "b:7700"), Servers{"b:7700"});
  EXPECT_EQ(note(other, "a:7700"), (Servers{"a:7700", "b:7700"}));
  EXPECT_EQ(note(history, "b:7700"), (Servers{"a:7700", "b:7700"}));
  EXPECT_EQ(note(history, ""), (Servers{"a:7700", "b:7700"}));  // one that is not told
  PgSession session({.conninfo = conninfo_});
  session.run("UPDATE server SET seen_at = seen_at - interval '2 hours'");
  EXPECT_EQ(note(other, "a:7700"), Servers{"a:7700"});
}

}  // namespace
}  // namespace hai
