// Whose groups are looked at again, and what becomes of them.

#include "server/api/unix_groups_refresh.h"

#include <fstream>

#include "common/log.h"
#include "server/api/account_changes.h"
#include "server/api/audit_trail.h"
#include "server/api/caller_board.h"
#include "tests/support/kept_audit.h"
#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

class UnixGroupsRefreshTest : public ::testing::Test {
 protected:
  void set(User user) {
    server->controller.submit({.is_server = true}, SetUser{std::move(user)},
                              [](const Result<CommandReply>& reply) { CHECK(reply.is_ok()); });
    w.run(1s);
  }
  const User& user(const std::string& name) { return *server->controller.state().find_user(name); }
  // "target result: detail" of each entry that the server has left of itself.
  std::vector<std::string> audited() const {
    std::vector<std::string> lines;
    for (const AuditEntry& entry : log.entries()) {
      EXPECT_EQ(entry.call, kUnixGroupsCall);
      EXPECT_EQ(entry.user + entry.token + entry.address, "") << "nobody has asked for it";
      lines.push_back(fmt::format("{} {}: {}", entry.target, entry.result, entry.detail));
    }
    return lines;
  }

  ControllerWorld w;
  std::unique_ptr<Server> server = w.leader();
  CallerBoard callers{[this] { return server->loop.wall_now(); }};
  KeptAudit log{server->loop};
  AuditTrail audit{server->loop, callers, &log, [this] { return server->loop.wall_now(); }};
  AccountChanges accounts{server->controller, audit};
  std::map<std::string, Result<GroupNames>> directory;
  std::vector<std::string> asked;
  UnixGroupsRefresh refresh{
      {.loop = server->loop,
       .controller = server->controller,
       .accounts = accounts,
       .config = {.groups = {"proj-*"}, .roles = {.operators = {"hai-ops"}}, .every = 1min},
       .ask = [this](const std::string& name, Done<GroupNames> done) {
         asked.push_back(name);
         const auto found = directory.find(name);
         done(found != directory.end() ? found->second
                                       : Result<GroupNames>(not_found("no account")));
       }}};
};

TEST_F(UnixGroupsRefreshTest, WhoHasLeftAGroupHasLeftItHere) {
  set({.name = "ann", .role = Role::operator_, .groups = {"by-hand", "proj-a"}});
  set({.name = "bob", .groups = {"proj-a"}});
  set({.name = "gone", .active = false, .groups = {"proj-a"}});
  directory.emplace("ann", GroupNames{"users", "proj-b"});
  directory.emplace("gone", GroupNames{});
  refresh.start();
  w.run(59s);
  EXPECT_EQ(user("ann").groups, (GroupNames{"by-hand", "proj-a"})) << "not yet";
  w.run(2s);
  EXPECT_EQ(user("ann").groups, (GroupNames{"by-hand", "proj-b"}));
  EXPECT_EQ(user("ann").role, Role::user);
  EXPECT_EQ(user("bob").groups, GroupNames{"proj-a"}) << "he has no account here";
  EXPECT_EQ(user("gone").groups, GroupNames{"proj-a"}) << "nobody asks for who is not active";
  directory.insert_or_assign("ann", GroupNames{"hai-ops"});
  w.run(1min);
  EXPECT_EQ(user("ann").groups, GroupNames{"by-hand"});
  EXPECT_EQ(user("ann").role, Role::operator_);
}

TEST_F(UnixGroupsRefreshTest, EachChangeLeavesAnEntryInTheAuditLog) {
  set({.name = "ann", .role = Role::operator_, .groups = {"by-hand", "proj-a"}});
  set({.name = "bob", .groups = {"proj-a"}});
  directory.emplace("ann", GroupNames{"users", "proj-b"});
  directory.emplace("bob", GroupNames{"proj-a"});
  directory.emplace("fay", GroupNames{"hai-ops"});
  refresh.start();
  w.run(3min);
  const std::string of_ann = "user/ann ok: role user, joins proj-b, leaves proj-a";
  EXPECT_THAT(audited(), ElementsAre(of_ann)) << "once, and none of bob, who is as he was";
  refresh.look_up("fay", true, [] {});
  w.run(1s);
  EXPECT_THAT(audited(), ElementsAre(of_ann, "user/fay ok: new user, role operator"));
  directory.erase("ann");
  w.run(1min);
  EXPECT_THAT(audited(), ElementsAre(of_ann, "user/fay ok: new user, role operator",
                                     "user/ann ok: leaves proj-b"));
}

// They are not merged as those of strangers are.
TEST_F(UnixGroupsRefreshTest, EachRefusedChangeLeavesAnEntry) {
  for (const char* name : {"no name", "no other"}) {
    directory.emplace(name, GroupNames{"proj-b"});
    refresh.look_up(name, true, [] {});
  }
  w.run(1s);
  const char* refused = " invalid_argument: new user, joins proj-b; user name: must be";
  EXPECT_THAT(audited(), ElementsAre(StartsWith(std::string("user/no name") + refused),
                                     StartsWith(std::string("user/no other") + refused)));
}

TEST_F(UnixGroupsRefreshTest, WhoHasNoAccountAnyMoreKeepsNoRoleOfTheDirectory) {
  const std::string path = testing::TempDir() + "unix_groups_refresh_test.log";
  std::remove(path.c_str());
  ASSERT_TRUE(set_log_file(path).is_ok());
  const User by_hand{.name = "bot", .role = Role::operator_, .groups = {"proj-a"}};
  set(by_hand);
  set({.name = "ann", .groups = {"by-hand"}});
  set({.name = "eve"});
  set({.name = "sys"});
  for (const char* name : {"ann", "eve", "sys"}) {
    directory.emplace(name, GroupNames{"hai-ops", "proj-a"});
  }
  refresh.start();
  w.run(61s);
  EXPECT_EQ(user("ann").role, Role::operator_);
  EXPECT_EQ(user("ann").groups, (GroupNames{"by-hand", "proj-a"}));
  directory.erase("ann");
  directory.insert_or_assign("eve", Result<GroupNames>(unavailable("no group hai-ops")));
  directory.insert_or_assign("sys", Result<GroupNames>(failed_precondition("the system's")));
  w.run(2min);
  EXPECT_EQ(user("ann").role, Role::user);
  EXPECT_EQ(user("ann").groups, GroupNames{"by-hand"}) << "what is no group of the directory stays";
  EXPECT_TRUE(user("bot").is_same_account(by_hand)) << "he never had an account";
  for (const char* name : {"eve", "sys"}) {
    EXPECT_EQ(user(name).role, Role::operator_) << name << ": nobody knows whether it is deleted";
  }
  set({.name = "ann", .role = Role::operator_});
  w.run(1min);
  EXPECT_EQ(user("ann").role, Role::operator_) << "given by hand since";
  ASSERT_TRUE(set_log_file("").is_ok());
  std::ifstream file(path);
  std::map<std::string, int> said;
  for (std::string line; std::getline(file, line);) {
    for (const char* what : {"unix_account_gone user=ann ", "hai user set ann --active no",
                             "unix_account_missing user=bot "}) {
      said[what] += line.find(what) == std::string::npos ? 0 : 1;
    }
  }
  EXPECT_EQ(said["unix_account_gone user=ann "], 1);
  EXPECT_EQ(said["unix_account_missing user=bot "], 1);
  EXPECT_GE(said["hai user set ann --active no"], 1) << "what to do";
  std::remove(path.c_str());
}

TEST_F(UnixGroupsRefreshTest, WhoCannotBeLookedAtKeepsNobodyBack) {
  set({.name = "ann", .groups = {"proj-a"}});
  set({.name = "bob", .groups = {"proj-a"}});
  directory.emplace("ann", Result<GroupNames>(unavailable("no group hai-ops")));
  directory.emplace("bob", GroupNames{});
  refresh.start();
  w.run(61s);
  EXPECT_EQ(user("ann").groups, GroupNames{"proj-a"});
  EXPECT_EQ(user("bob").groups, GroupNames{});
  directory.insert_or_assign("ann", GroupNames{"proj-b"});
  w.run(1min);
  EXPECT_EQ(user("ann").groups, GroupNames{"proj-b"});
}

TEST_F(UnixGroupsRefreshTest, ADirectoryThatIsAwayIsNotAskedForEverybody) {
  for (const char* name : {"ann", "bob", "cid", "dan", "eve"}) {
    set({.name = name, .groups = {"proj-a"}});
    directory.emplace(name, Result<GroupNames>(unavailable("no group hai-ops")));
  }
  directory.insert_or_assign("eve", GroupNames{});
  refresh.start();
  w.run(61s);
  EXPECT_EQ(asked, (GroupNames{"ann", "bob", "cid"}));
  EXPECT_EQ(user("eve").groups, GroupNames{"proj-a"});
  w.run(1min);
  EXPECT_EQ(GroupNames(asked.begin() + 3, asked.begin() + 5), (GroupNames{"dan", "eve"}))
      << "three who always fail keep nobody back";
  EXPECT_EQ(user("eve").groups, GroupNames{});
  EXPECT_EQ(user("ann").groups, GroupNames{"proj-a"});
}

TEST_F(UnixGroupsRefreshTest, NobodyWaitsLongForADirectoryThatDoesNotAnswer) {
  set({.name = "ann", .groups = {"proj-a"}});
  Done<GroupNames> answer;
  UnixGroupsRefresh slow{
      {.loop = server->loop,
       .controller = server->controller,
       .accounts = accounts,
       .config = {.groups = {"proj-*"}},
       .ask = [&](const std::string&, Done<GroupNames> done) { answer = done; }}};
  int done = 0;
  slow.look_up("ann", false, [&] { ++done; });
  w.run(2s);
  EXPECT_EQ(done, 0);
  w.run(2s);
  EXPECT_EQ(done, 1);
  answer(GroupNames{"proj-b"});
  w.run(1s);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(user("ann").groups, GroupNames{"proj-b"}) << "what it says later counts";
}

TEST_F(UnixGroupsRefreshTest, WhoSignsInIsLookedAtBefore) {
  set({.name = "gone", .active = false, .groups = {"proj-a"}});
  for (const char* name : {"fay", "bob", "gone"}) directory.emplace(name, GroupNames{"proj-b"});
  directory.emplace("eve", Result<GroupNames>(unavailable("no group hai-ops")));
  int done = 0;
  const auto look_up = [&](const std::string& name, bool may_be_new) {
    refresh.look_up(name, may_be_new, [&done] { ++done; });
    w.run(1s);
  };
  look_up("fay", true);
  look_up("bob", false);
  look_up("gone", true);
  look_up("eve", true);
  look_up("nobody", true);
  EXPECT_EQ(done, 5) << "whatever comes of it";
  EXPECT_TRUE(user("fay").is_same_account({.name = "fay", .groups = {"proj-b"}})) << "she is new";
  EXPECT_EQ(user("gone").groups, GroupNames{"proj-a"}) << "who is shut out stays as he was";
  for (const char* name : {"bob", "eve", "nobody"}) {
    EXPECT_EQ(server->controller.state().find_user(name), nullptr) << name;
  }
}

TEST_F(UnixGroupsRefreshTest, EndsWhenItIsTold) {
  set({.name = "ann"});
  refresh.start();
  refresh.stop();
  w.run(10min);
  EXPECT_TRUE(asked.empty());
}

}  // namespace
}  // namespace hai::test
