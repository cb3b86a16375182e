// Whose groups are looked at again, and what becomes of them.

#include "server/api/unix_groups_refresh.h"

#include <fstream>

#include "common/log.h"
#include "server/api/account_changes.h"
#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

class UnixGroupsRefreshTest : public ::testing::Test {
 protected:
  void set(User user) {
    server->controller.submit({.is_server = true}, SetUser{std::move(user)},
                              [](const Result<CommandReply>& reply) { CHECK(reply.is_ok()); });
    w.run(1s);
  }
  const User& user(const std::string& name) { return *server->controller.state().find_user(name); }

  ControllerWorld w;
  std::unique_ptr<Server> server = w.leader();
  AccountChanges accounts{server->controller};
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
