// What ranks may not do, asked of real ones. tests/e2e/hostile_rank_test.py tries to break out.

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/agent/os_rank_fixture.h"

namespace hai {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ConfinementTest : public RankHostTest {
 protected:
  std::vector<std::string> lines_of(const std::string& text, const std::string& user = "root") {
    start_host();
    LaunchRank job = script(text);
    job.user = user;
    launch(job);
    EXPECT_EQ(wait_exited(job.key).message, "");
    return log_lines(job.key);
  }
  std::vector<std::string> python(const std::string& text) {
    start_host();
    write_script("job.py", text);
    const LaunchRank job = order("job.py");
    launch(job);
    EXPECT_EQ(wait_exited(job.key).message, "");
    return log_lines(job.key);
  }
  std::string refusal_of(const std::string& user) {
    start_host();
    LaunchRank job = script("exit 0");
    job.user = user;
    launch(job);
    const RankStatus status = wait_exited(job.key);
    EXPECT_EQ(status.cause, ExitCause::launch_failed);
    return status.message;
  }
  static Powers powers() {
    CgroupHost host(find_cgroup_mounts(), "hai-test", "powers");
    return find_powers(host);
  }
};

#define SKIP_UNLESS_ROOT() \
  if (::geteuid() != 0) GTEST_SKIP() << "needs root"

// In files as those of cgroup v2, with a group that has a process beside those of ranks.
TEST_F(ConfinementTest, NoControllersAreEnabledWhereAProcessIsInTheWay) {
  SKIP_UNLESS_ROOT();
  for (const bool is_in_the_way : {false, true}) {
    const std::string root = root_ + "/" + (is_in_the_way ? "with" : "without");
    const std::string controllers = root + "/hai/cgroup.subtree_control";
    std::filesystem::create_directories(root + "/hai");
    std::ofstream(root + "/hai/cgroup.type") << "domain\n";
    std::ofstream(root + "/hai/cgroup.procs") << (is_in_the_way ? "4711\n" : "");
    std::ofstream{controllers};
    CgroupHost host({.unified = root, .unified_has_controllers = true}, "hai", "a");
    const RankCgroups made = host.create("1.1.0", {.processes = 5});
    EXPECT_THAT(made.directories, ElementsAre(root + "/hai/a.1.1.0"));
    EXPECT_EQ(std::filesystem::file_size(controllers) == 0, is_in_the_way);
  }
}

TEST_F(ConfinementTest, RootIsRefusedUnlessListed) {
  SKIP_UNLESS_ROOT();
  options_.confinement.system_users = {};
  EXPECT_THAT(refusal_of("root"), testing::StartsWith("user root is one of the system (uid 0, "));
}

TEST_F(ConfinementTest, UsersOfTheSystemAreRefusedUnlessListed) {
  SKIP_UNLESS_ROOT();
  EXPECT_THAT(refusal_of("daemon"), HasSubstr("confinement.system_users"));
}

TEST_F(ConfinementTest, ListedUsersOfTheSystemRun) {
  SKIP_UNLESS_ROOT();
  options_.confinement.system_users = {"daemon"};
  EXPECT_THAT(lines_of("id -un", "daemon"), ElementsAre("daemon"));
}

TEST_F(ConfinementTest, NobodyRunsAsRootForWantOfAnAccount) {
  SKIP_UNLESS_ROOT();
  options_.confinement.system_users = {};
  EXPECT_THAT(refusal_of("no-such-user"), testing::StartsWith("user no-such-user does not exist"));
}

TEST_F(ConfinementTest, ComesWithAllGroupsOfTheUser) {
  SKIP_UNLESS_ROOT();
  std::string user;
  ::setgrent();
  while (const group* entry = ::getgrent()) {
    if (entry->gr_mem[0] != nullptr && ::getpwnam(entry->gr_mem[0]) != nullptr)
      user = entry->gr_mem[0];
  }
  ::endgrent();
  if (user.empty()) GTEST_SKIP() << "no user of this machine is in a second group";
  options_.confinement.system_users = {user};
  const std::vector<std::string> lines = lines_of(
      "id -G | tr ' ' '\\n' | sort -u | xargs; id -G " + user + " | tr ' ' '\\n' | sort -u | xargs",
      user);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], lines[1]);
  EXPECT_THAT(lines[0], HasSubstr(" ")) << "of one group only";
}

constexpr const char* kTellPrivileges =
    "grep -E '^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status | "
    "tr -d '\\t' | tr '\\n' ' '";

TEST_F(ConfinementTest, HasNoPrivilegesWhoeverRunsIt) {
  const std::string none = "0000000000000000 ";
  EXPECT_THAT(lines_of(kTellPrivileges),
              ElementsAre("CapInh:" + none + "CapPrm:" + none + "CapEff:" + none +
                          "CapAmb:" + none + "NoNewPrivs:1 Seccomp:2 "));
}

TEST_F(ConfinementTest, TheBoundingSetIsEmpty) {
  SKIP_UNLESS_ROOT();
  EXPECT_THAT(lines_of("grep CapBnd /proc/self/status | tr -d '\\t'"),
              ElementsAre("CapBnd:0000000000000000"));
}

TEST_F(ConfinementTest, IsOnlyTheIdentityIfTheNodeSaysNone) {
  options_.confinement.isolation = Isolation::none;
  const std::vector<std::string> lines = lines_of(kTellPrivileges);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("NoNewPrivs:0 Seccomp:0"));
}

// By number, as a program that means harm makes them. -1 and what the kernel says, or 0.
constexpr const char* kCalls = R"(
import ctypes, errno, os, platform, threading
libc = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
def call(x86, other, *arguments):
    result = libc.syscall(ctypes.c_long(x86 if X86 else other), *map(ctypes.c_long, arguments))
    return "works" if result >= 0 else errno.errorcode[ctypes.get_errno()]
print("unshare of users", call(272, 97, 0x10000000))
print("unshare of files", call(272, 97, 0x400))
print("keyctl", call(250, 219, 0, -3, 0))
print("bpf", call(321, 280, 0, 0, 0))
print("clone3", call(435, 435, 0, 0))
print("of the future", call(900, 900, 0))
print("kcmp", call(312, 272, os.getpid(), os.getpid(), 0, 1, 1))
thread = threading.Thread(target=lambda: print("a thread works")); thread.start(); thread.join()
)";

TEST_F(ConfinementTest, DangerousCallsAreRefusedAndOthersAreNot) {
  EXPECT_THAT(python(kCalls), ElementsAre("unshare of users EPERM", "unshare of files works",
                                          "keyctl EPERM", "bpf EPERM", "clone3 ENOSYS",
                                          "of the future ENOSYS", "kcmp EPERM", "a thread works"));
}

TEST_F(ConfinementTest, ASiteMayLetACallThrough) {
  options_.confinement.allowed_calls = {"kcmp"};
  EXPECT_THAT(python(kCalls), testing::Contains("kcmp works"));
}

TEST_F(ConfinementTest, DebuggersOfOnesOwnProcessesWork) {
  EXPECT_THAT(python(R"(
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0:
    signal.pause()
print(libc.ptrace(16, child, None, None))
os.waitpid(child, 0); os.kill(child, 9)
)"),
              ElementsAre("0"));
}

TEST_F(ConfinementTest, HasItsOwnTmpAndSharedMemory) {
  SKIP_UNLESS_ROOT();
  if (!can_make_mounts()) GTEST_SKIP() << "no mounts here";
  const std::string marker = "hai-marker-" + std::to_string(::getpid());
  std::ofstream("/tmp/" + marker) << "x";
  std::ofstream("/dev/shm/" + marker) << "x";
  const std::vector<std::string> lines =
      lines_of("ls /tmp/" + marker + " /dev/shm/" + marker +
               " 2>/dev/null; ls /dev/shm | wc -l; "
               "echo mine > /tmp/a; cat $TMPDIR/a; echo shared > /dev/shm/b; cat /dev/shm/b; pwd");
  EXPECT_FALSE(std::filesystem::exists("/dev/shm/b"));
  std::filesystem::remove("/tmp/" + marker);
  std::filesystem::remove("/dev/shm/" + marker);
  EXPECT_THAT(lines, ElementsAre("0", "mine", "shared", workspace_));
}

TEST_F(ConfinementTest, ProgramsOfOneRankShareTheirMemory) {
  LaunchRank job = script(
      "echo $LOCAL_RANK > /dev/shm/$LOCAL_RANK; while [ $(ls /dev/shm | wc -l) -lt 4 ]; do :; "
      "done");
  job.launch = LaunchMode::per_gpu;
  job.gpus = GpuSet::first(4);
  start_host();
  launch(job);
  EXPECT_EQ(wait_exited(job.key).exit_code, 0);
  for (const char* name : {"0", "1", "2", "3"})  // where it had no memory of its own
    std::filesystem::remove(std::string("/dev/shm/") + name);
}

TEST_F(ConfinementTest, SeesNoProcessesOfOthers) {
  SKIP_UNLESS_ROOT();
  if (!can_make_mounts()) GTEST_SKIP() << "no mounts here";
  EXPECT_THAT(lines_of("test -e /proc/1 || echo hidden; test -e /proc/$$ && echo seen", "nobody"),
              ElementsAre("hidden", "seen"));
}

TEST_F(ConfinementTest, AWorkspaceThatTheUserCannotReachIsNotMadeReachable) {
  SKIP_UNLESS_ROOT();
  std::filesystem::create_directories(root_ + "/closed/inner");
  std::filesystem::permissions(root_ + "/closed", std::filesystem::perms(0700));
  start_host();
  write_script("job.sh", "ls");
  LaunchRank job = order(workspace_ + "/job.sh");
  job.workspace = root_ + "/closed/inner";
  job.user = "nobody";
  launch(job);
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::launch_failed) << status.message;
}

TEST_F(ConfinementTest, ProcessesAreLimited) {
  if (!powers().process_limits) GTEST_SKIP() << "no limit of processes here";
  options_.confinement.processes_max = 20;
  EXPECT_THAT(python(R"(
import os, signal
started = []
try:
    for _ in range(200):
        child = os.fork()
        if child == 0:
            signal.pause()
        started.append(child)
except BlockingIOError:
    print("refused at", len(started) < 20)
for child in started:
    os.kill(child, 9)
)"),
              ElementsAre("refused at True"));
}

TEST_F(ConfinementTest, DevicesAreOnlyTheUsualOnes) {
  if (!powers().device_filters) GTEST_SKIP() << "no filter of devices here";
  EXPECT_THAT(lines_of("for i in null zero full random urandom ptmx; do : <> /dev/$i && echo $i; "
                       "done; cat /dev/kmsg 2>&1 | head -c 200"),
              ElementsAre("null", "zero", "full", "random", "urandom", "ptmx",
                          HasSubstr("Operation not permitted")));
}

TEST_F(ConfinementTest, GpusAreCountedAsCudaCountsThem) {
  if (!powers().device_filters) GTEST_SKIP() << "no filter of devices here";
  options_.node = {.gpus = 8, .gpu_minors = {0, 1, 2, 3, 4, 5, 6, 7}};
  start_host();
  LaunchRank job = script("echo $CUDA_VISIBLE_DEVICES");
  job.gpus = parse_gpu_set("4,5").value();
  launch(job);
  wait_exited(job.key);
  EXPECT_THAT(log_lines(job.key), ElementsAre("0,1"));
}

// What a process of a group with these rules gets of /dev/kmsg, which root may read: 0 or errno.
int open_kmsg_in(const std::vector<std::string>& groups) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (const std::string& group : groups) {
      const int procs = ::open((group + "/cgroup.procs").c_str(), O_WRONLY);
      if (::write(procs, "0", 1) != 1) ::_exit(255);
    }
    ::_exit(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK) >= 0 ? 0 : errno);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}

void expect_filter(CgroupMounts mounts) {
  CgroupHost host(std::move(mounts), "hai-test", "devices");
  const RankCgroups open = host.create("open", {.devices = {{{'c', 1, 11}}}});
  const RankCgroups all_minors = host.create("any", {.devices = {{{'c', 5, 0}, {'c', 1, -1}}}});
  const RankCgroups closed = host.create("closed", {.devices = {{{'c', 1, 3}, {'b', 1, 11}}}});
  EXPECT_TRUE(open.filters_devices && closed.filters_devices);
  EXPECT_EQ(open_kmsg_in(open.directories), 0);
  EXPECT_EQ(open_kmsg_in(all_minors.directories), 0);
  EXPECT_EQ(open_kmsg_in(closed.directories), EPERM);
  host.remove_others({});
}

TEST_F(ConfinementTest, DevicesAreFilteredByCgroupV2) {
  SKIP_UNLESS_ROOT();
  CgroupMounts mounts;
  mounts.unified = find_cgroup_mounts().unified;
  if (mounts.unified.empty() || ::access("/dev/kmsg", R_OK) != 0 || !powers().device_filters)
    GTEST_SKIP() << "no cgroup v2, no /dev/kmsg, or no right to filter";
  expect_filter(mounts);
}

TEST_F(ConfinementTest, DevicesAreFilteredByCgroupV1) {
  SKIP_UNLESS_ROOT();
  CgroupMounts mounts;
  mounts.devices = find_cgroup_mounts().devices;
  if (mounts.devices.empty() || ::access("/dev/kmsg", R_OK) != 0)
    GTEST_SKIP() << "no cgroup v1 with devices, or no /dev/kmsg";
  expect_filter(mounts);
}

}  // namespace
}  // namespace hai
