// Who may log in to a node, by what lies in its data directory. tests/e2e/ssh_test.py asks a real
// sshd.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "agent/login/login_gate.h"
#include "agent/os/cgroup.h"
#include "agent/os/files.h"
#include "agent/os/launch_file.h"
#include "agent/os/process_table.h"
#include "agent/os/status_json.h"
#include "agent/shim/login_door.h"

namespace hai {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uid_t kAnn = 4001;

// A data directory in which this process plays the shims: they live as long as it does.
class LoginGate : public testing::Test {
 protected:
  LoginGate() {
    std::string path = "/tmp/hai-test-XXXXXX";
    data_dir_ = ::mkdtemp(path.data());
  }
  ~LoginGate() override { fs::remove_all(data_dir_); }

  RankDirectory add_rank(int64_t job, const std::string& user,
                         std::vector<std::string> cgroups = {"/nowhere/hai/x"}) {
    LaunchFile launch;
    launch.key = {.job = {job}, .attempt = 1, .rank = 0};
    launch.user = user;
    launch.cgroups = std::move(cgroups);
    const RankDirectory directory = rank_directory(data_dir_, launch.key);
    fs::create_directories(directory.path);
    std::ofstream(directory.launch_file()) << launch_file_to_json(launch);
    // The order of launches, whatever the clock's steps are.
    fs::last_write_time(directory.launch_file(), fs::file_time_type() + launched_ * 1s);
    ++launched_;
    say_shim(directory, ::getpid(), process_start_ticks(::getpid()));
    std::ofstream(logins_file(directory)).flush();
    return directory;
  }
  static void say_shim(const RankDirectory& directory, pid_t pid, uint64_t start_ticks) {
    std::ofstream(directory.lock_file()) << pid << ' ' << start_ticks << '\n';
  }
  static void say_status(const RankDirectory& directory, RankPhase phase) {
    RankStatus status;
    status.phase = phase;
    std::ofstream(directory.status_file()) << status_to_json(status);
  }
  Result<std::vector<LiveRank>> ask(const std::string& name) {
    return ranks_to_join({.name = name, .identity = {.switch_user = true, .uid = kAnn}}, "node-1",
                         find_live_ranks(data_dir_).value());
  }
  std::vector<int64_t> jobs_of(const std::string& name) {
    std::vector<int64_t> jobs;
    const Result<std::vector<LiveRank>> ranks = ask(name);
    if (!ranks.is_ok()) return jobs;
    for (const LiveRank& rank : ranks.value()) jobs.push_back(rank.key.job.value);
    return jobs;
  }

  std::string data_dir_;
  int launched_ = 1;
};

TEST_F(LoginGate, LetsInByALiveRankOfOnesOwn) {
  add_rank(7, "ann");
  EXPECT_THAT(jobs_of("ann"), ElementsAre(7));
  const Status bob = ask("bob").status();
  EXPECT_EQ(bob.code(), Code::permission_denied);
  EXPECT_THAT(bob.message(), HasSubstr("no login to node-1: no job of bob runs there"));
}

TEST_F(LoginGate, TheOneLaunchedLastComesFirst) {
  add_rank(12, "ann");
  add_rank(8, "ann");  // it was submitted earlier, and has run elsewhere until now
  add_rank(10, "bob");
  EXPECT_THAT(jobs_of("ann"), ElementsAre(8, 12));
}

TEST_F(LoginGate, WhatHasEndedLetsNobodyIn) {
  say_status(add_rank(1, "ann"), RankPhase::exited);
  EXPECT_THAT(jobs_of("ann"), IsEmpty());
  // Its shim is dead, and another process has its pid now.
  say_shim(add_rank(2, "ann"), ::getpid(), process_start_ticks(::getpid()) + 1);
  EXPECT_THAT(jobs_of("ann"), IsEmpty());
  fs::remove(add_rank(3, "ann").lock_file());
  EXPECT_THAT(jobs_of("ann"), IsEmpty());
  fs::remove(add_rank(4, "ann").launch_file());  // it is being forgotten
  EXPECT_THAT(jobs_of("ann"), IsEmpty());
  std::ofstream(add_rank(5, "ann").launch_file()) << "{";
  EXPECT_THAT(jobs_of("ann"), IsEmpty());
  std::ofstream(add_rank(6, "ann").status_file()) << "{";
  EXPECT_THAT(jobs_of("ann"), IsEmpty());
  say_status(add_rank(7, "ann"), RankPhase::running);
  EXPECT_THAT(jobs_of("ann"), ElementsAre(7));
}

// Whose programs are gone, and whose shim ends the logins.
TEST_F(LoginGate, ARankThatIsEndingLetsNobodyIn) {
  const RankDirectory directory = add_rank(1, "ann");
  say_status(directory, RankPhase::running);
  EXPECT_THAT(jobs_of("ann"), ElementsAre(1));
  fs::remove(logins_file(directory));
  EXPECT_THAT(jobs_of("ann"), IsEmpty());
}

// Otherwise a user could write there that any process be moved anywhere, by root.
TEST_F(LoginGate, BelievesNoDirectoryThatOthersMayWrite) {
  add_rank(1, "ann");
  for (const std::string& path : {data_dir_, ranks_root(data_dir_)}) {
    for (const fs::perms mode : {fs::perms(0775), fs::perms(0757)}) {
      fs::permissions(path, mode);
      const Status status = find_live_ranks(data_dir_).status();
      EXPECT_EQ(status.code(), Code::failed_precondition) << path;
      EXPECT_THAT(status.message(), HasSubstr("others than root may write to " + path));
    }
    fs::permissions(path, fs::perms(0755));
  }
  EXPECT_THAT(jobs_of("ann"), ElementsAre(1));
}

TEST_F(LoginGate, BelievesNoRankThatOthersMayWrite) {
  const RankDirectory rank = add_rank(1, "ann");
  say_status(rank, RankPhase::running);
  for (const std::string& path :
       {rank.path, rank.launch_file(), rank.lock_file(), rank.status_file(), logins_file(rank)}) {
    const fs::perms before = fs::status(path).permissions();
    fs::permissions(path, before | fs::perms::others_write);
    EXPECT_THAT(jobs_of("ann"), IsEmpty()) << path;
    fs::permissions(path, before);
    const std::string elsewhere = data_dir_ + "/elsewhere";
    fs::rename(path, elsewhere);
    fs::create_symlink(elsewhere, path);
    EXPECT_THAT(jobs_of("ann"), IsEmpty()) << path;
    fs::remove(path);
    fs::rename(elsewhere, path);
    EXPECT_THAT(jobs_of("ann"), ElementsAre(1)) << path;
  }
}

TEST_F(LoginGate, BelievesNothingThatBelongsToAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: can give nothing away";
  const RankDirectory rank = add_rank(1, "ann");
  say_status(rank, RankPhase::running);
  const auto give = [](const std::string& path, uid_t uid) {
    ASSERT_EQ(::chown(path.c_str(), uid, static_cast<gid_t>(-1)), 0) << path;
  };
  for (const std::string& path :
       {rank.path, rank.launch_file(), rank.lock_file(), rank.status_file(), logins_file(rank)}) {
    give(path, kAnn);
    EXPECT_THAT(jobs_of("ann"), IsEmpty()) << path;
    give(path, 0);
  }
  for (const std::string& path : {data_dir_, ranks_root(data_dir_)}) {
    give(path, kAnn);
    EXPECT_THAT(find_live_ranks(data_dir_).status().message(),
                HasSubstr(path + " belongs to user id 4001 and not to root"));
    give(path, 0);
  }
  EXPECT_THAT(jobs_of("ann"), ElementsAre(1));
}

TEST_F(LoginGate, NobodyComesInWhoCannotBeKeptInHisJob) {
  add_rank(1, "ann", {});
  EXPECT_EQ(ask("ann").status().code(), Code::permission_denied);
  EXPECT_THAT(ask("ann").status().message(), HasSubstr("without control groups"));
  add_rank(2, "ann");
  EXPECT_THAT(jobs_of("ann"), ElementsAre(2));
}

TEST_F(LoginGate, NoDataDirectoryIsNoJob) {
  EXPECT_THAT(find_live_ranks(data_dir_ + "/absent").value(), IsEmpty());
}

TEST_F(LoginGate, RootAndAdministratorsNeedNoJob) {
  const LoginUser ann = {.name = "ann", .identity = {.uid = kAnn, .groups = {kAnn, 0}}};
  EXPECT_FALSE(needs_no_job(ann, {}));
  EXPECT_FALSE(needs_no_job(ann, {.admin_users = {"bob"}, .admin_groups = {"no-such-group"}}));
  EXPECT_TRUE(needs_no_job(ann, {.admin_users = {"bob", "ann"}}));
  EXPECT_TRUE(needs_no_job(ann, {.admin_groups = {"root"}}));
  EXPECT_TRUE(needs_no_job({.name = "toor", .identity = {.uid = 0}}, {}));
}

TEST_F(LoginGate, SaysWhichGroupsAreNotThere) {
  EXPECT_THAT(unknown_groups({"root", "no-such-group"}), ElementsAre("no-such-group"));
}

// A process in the rank's control groups, if this machine lets us make some.
class LoginJoins : public LoginGate {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "not root: no control groups";
    for (const char* name : {"first", "second"}) {
      groups_.push_back(host_.create(name, {.processes = 100}).directories);
      if (groups_.back().empty()) GTEST_SKIP() << "this machine has no control groups to use";
    }
    child_ = ::fork();
    if (child_ == 0) {
      while (true) ::pause();
    }
  }
  void TearDown() override {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    host_.remove_others({});
  }
  bool is_in(const std::vector<std::string>& directories) const {
    return std::ranges::all_of(directories, [this](const std::string& directory) {
      return cgroup_processes({directory}) == std::vector<pid_t>{child_};
    });
  }

  CgroupHost host_{find_cgroup_mounts(), "hai-test", "login-" + std::to_string(::getpid())};
  std::vector<std::vector<std::string>> groups_;
  pid_t child_ = 0;
};

TEST_F(LoginJoins, TheFirstRankThatStillLives) {
  add_rank(1, "ann", groups_[0]);
  add_rank(2, "ann", groups_[1]);
  const std::vector<LiveRank> ranks = ask("ann").value();
  EXPECT_EQ(join_rank(child_, "node-1", ranks).value().key.job.value, 2);
  EXPECT_TRUE(is_in(groups_[1]));
}

TEST_F(LoginJoins, TheNextOneIfTheFirstHasJustEnded) {
  add_rank(1, "ann", groups_[0]);
  add_rank(2, "ann", groups_[1]);
  const std::vector<LiveRank> ranks = ask("ann").value();
  remove_cgroups(groups_[1]);
  EXPECT_EQ(join_rank(child_, "node-1", ranks).value().key.job.value, 1);
  EXPECT_TRUE(is_in(groups_[0]));
}

TEST_F(LoginJoins, NoRankThatHasJustBegunToEnd) {
  const RankDirectory directory = add_rank(1, "ann", groups_[0]);
  const std::vector<LiveRank> ranks = ask("ann").value();
  fs::remove(logins_file(directory));
  EXPECT_EQ(join_rank(child_, "node-1", ranks).status().code(), Code::permission_denied);
}

TEST_F(LoginJoins, NothingThatIsNoControlGroup) {
  std::ofstream(data_dir_ + "/cgroup.procs").flush();
  add_rank(1, "ann", {data_dir_});
  const Status status = join_rank(child_, "node-1", ask("ann").value()).status();
  EXPECT_EQ(status.code(), Code::failed_precondition);
  EXPECT_EQ(fs::file_size(data_dir_ + "/cgroup.procs"), 0U);
}

TEST_F(LoginJoins, NoRankWhoseShimHasJustDied) {
  const RankDirectory directory = add_rank(1, "ann", groups_[0]);
  const std::vector<LiveRank> ranks = ask("ann").value();
  fs::remove(directory.lock_file());
  const Status status = join_rank(child_, "node-1", ranks).status();
  EXPECT_EQ(status.code(), Code::permission_denied);
  EXPECT_EQ(status.message(), "no login to node-1: your job there has just ended");
}

}  // namespace
}  // namespace hai
