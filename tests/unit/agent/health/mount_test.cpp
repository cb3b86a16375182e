#include "agent/health/mount_check.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

// Stand-ins for file systems: a path that begins with "/hung" never answers.
void ask_fake(const char* path, FileSystemAnswer* answer) {
  const std::string_view name(path);
  while (name.starts_with("/hung")) ::pause();
  if (name.starts_with("/stale")) answer->error = ESTALE;
  *answer = {.error = answer->error,
             .size_bytes = 100'000'000'000,
             .free_bytes = name == "/full" ? 400'000'000 : 50'000'000'000,
             .inodes = 1'000,
             .free_inodes = 900,
             .is_read_only = name == "/frozen"};
}

MountCheckOptions options_with(const TempFolder& folder, std::vector<std::string> mounts) {
  std::string text;
  for (const std::string& mount : mounts) {
    if (mount != "/absent") text += "server:/x " + mount + " nfs4 rw,relatime 0 0\n";
  }
  folder.write("proc/mounts", text);
  MountCheckOptions options;
  options.proc_root = folder.path("proc");
  options.mounts = std::move(mounts);
  options.patience = 10s;
  return options;
}

TEST(MountCheck, looks_at_each_mount) {
  TempFolder folder;
  MountCheckOptions options = options_with(folder, {"/data", "/absent", "/stale", "/frozen"});
  options.file_systems = {"/full", "/data"};
  MountCheck check(options, ask_fake);
  const std::vector<CheckResult> results = check.run(input_at(0s));
  EXPECT_EQ(verdict_of(results, "mount", "/data"), "ok");
  EXPECT_EQ(verdict_of(results, "mount", "/absent"), "fail drain");
  EXPECT_THAT(result_of(results, "mount", "/stale").summary,
              testing::StartsWith("cannot be used: Stale file handle; remedy: "));
  EXPECT_EQ(verdict_of(results, "mount", "/frozen"), "fail drain");
  EXPECT_EQ(verdict_of(results, "disk_space", "/full"), "fail drain");
  EXPECT_EQ(verdict_of(results, "disk_space", "/data"), "ok");
}

TEST(MountCheck, a_hung_mount_delays_no_other) {
  TempFolder folder;
  MountCheckOptions options = options_with(folder, {"/hung", "/data"});
  options.patience = 3s;  // Long enough for the other on a busy machine.
  MountCheck check(options, ask_fake);
  const std::vector<CheckResult> results = check.run(input_at(0s));
  EXPECT_EQ(verdict_of(results, "mount", "/hung"), "unknown");
  EXPECT_EQ(verdict_of(results, "mount", "/data"), "ok");
}

TEST(MountCheck, a_mount_fails_after_five_silences) {
  TempFolder folder;
  MountCheckOptions options = options_with(folder, {"/hung"});
  options.patience = 10ms;
  MountCheck check(options, ask_fake);
  for (int i = 1; i <= 4; ++i)
    EXPECT_EQ(verdict_of(check.run(input_at(i * 10s)), "mount", "/hung"), "unknown") << i;
  EXPECT_EQ(verdict_of(check.run(input_at(50s)), "mount", "/hung"), "fail drain");
}

TEST(MountCheck, silences_and_what_became_read_only_are_remembered_in_a_boot) {
  TempFolder folder;
  MountCheckOptions options = options_with(folder, {"/hung"});
  options.file_systems = {"/data"};
  options.patience = 10ms;
  MountCheck check(options, ask_fake);
  for (int i = 1; i <= 7; ++i) check.run(input_at(i * 10s));
  const CheckMemory memory = check.memory();
  EXPECT_EQ(memory.of_boot.at("/hung").at("silences"), std::vector<int64_t>{5});
  EXPECT_TRUE(memory.lasting.empty());
  MountCheck next(options, [](const char* path, FileSystemAnswer* answer) {
    ask_fake(path, answer);
    answer->is_read_only = true;
  });
  next.restore(memory);
  const std::vector<CheckResult> results = next.run(input_at(80s));
  EXPECT_EQ(verdict_of(results, "mount", "/hung"), "fail drain");
  EXPECT_EQ(verdict_of(results, "disk_space", "/data"), "fail drain");
}

TEST(MountCheck, this_machine_answers) {
  TempFolder folder;
  MountCheckOptions options = options_with(folder, {"/proc"});
  options.file_systems = {"/"};
  options.patience = 10s;
  MountCheck check(options);
  const std::vector<CheckResult> results = check.run(input_at(0s));
  EXPECT_EQ(verdict_of(results, "mount", "/proc"), "ok");
  EXPECT_NE(verdict_of(results, "disk_space", "/"), "unknown");
}

TEST(MountProbe, asks_all_at_once_and_leaves_no_child_that_can_end) {
  MountProbe probe(10ms, ask_fake);
  std::vector<std::string> paths;
  for (int i = 0; i < 20; ++i) paths.push_back(fmt::format("/hung/{}", i));
  for (const MountProbe::Answer& answer : probe.probe(paths)) EXPECT_FALSE(answer.is_answered);
  // These can be killed, and are asked again when they are gone.
  while (probe.stuck_children() > 0) {
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);  // Until one of them has ended.
    probe.probe({});
  }
}

int held_by_agent = -1;
void ask_what_is_held(const char*, FileSystemAnswer* answer) {
  answer->error = ::fcntl(held_by_agent, F_GETFD) < 0 ? 0 : EBUSY;
}

// A child that is stuck for ever kept the agent's connections open, and its port: nobody noticed
// that the agent died.
TEST(MountProbe, a_child_holds_nothing_of_the_agent) {
  held_by_agent = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(held_by_agent, 0);
  MountProbe probe(10s, ask_what_is_held);
  const auto answers = probe.probe({"/x"});
  ::close(held_by_agent);
  ASSERT_TRUE(answers[0].is_answered);
  EXPECT_EQ(answers[0].answer.error, 0);
}

TEST(ParseMounts, knows_escapes_read_only_and_the_last_of_two) {
  const auto mounts = parse_mounts(
      "a /one ext4 ro 0 0\nb /with\\040space nfs ro,relatime 0 0\nc /one ext4 rw 0 0\ntorn /x\n");
  EXPECT_EQ(mounts, (std::map<std::string, bool>{{"/one", true}, {"/with space", false}}));
}

TEST(JudgeRoom, limits) {
  const HealthLimits limits;
  MountReading reading{.path = "/",
                       .answer = {.size_bytes = 10'000'000'000,
                                  .free_bytes = 1'000'000'000,
                                  .inodes = 100,
                                  .free_inodes = 5}};
  EXPECT_EQ(verdict_of(judge_room(reading, limits)), "ok");
  reading.answer.free_inodes = 4;
  EXPECT_EQ(verdict_of(judge_room(reading, limits)), "warn");
  reading.answer.free_inodes = 0;
  EXPECT_EQ(verdict_of(judge_room(reading, limits)), "fail drain");
  reading.answer.inodes = 0;  // btrfs has none to run out of
  EXPECT_EQ(verdict_of(judge_room(reading, limits)), "ok");
  reading.answer.free_bytes = 900'000'000;
  EXPECT_EQ(verdict_of(judge_room(reading, limits)), "warn");
  reading.answer.free_bytes = 499'999'999;
  EXPECT_EQ(verdict_of(judge_room(reading, limits)), "fail drain");
  reading.answer.free_bytes = 9'000'000'000;
  reading.answer.is_read_only = true;
  EXPECT_EQ(verdict_of(judge_room(reading, limits)), "ok");  // As it always was.
  reading.was_writable = true;
  EXPECT_EQ(verdict_of(judge_room(reading, limits)), "fail drain");
  reading.silences = 1;
  EXPECT_EQ(verdict_of(judge_room(reading, limits)), "unknown");
}

}  // namespace
}  // namespace hai
