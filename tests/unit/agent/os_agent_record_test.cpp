// What an agent process leaves to the next one.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "agent/os/agent_instance.h"
#include "agent/os/agent_record_file.h"
#include "sim/virtual_loop.h"

namespace hai {
namespace {

struct Data {
  std::string path = [] {
    std::string name = std::filesystem::temp_directory_path() / "hai-record-XXXXXX";
    return std::string(::mkdtemp(name.data()));
  }();
  ~Data() { std::filesystem::remove_all(path); }
  void write(const std::string& text) { std::ofstream(path + "/agent.json") << text; }
};

struct Process {
  Timeline timeline;
  VirtualLoop loop{timeline};
  AgentRecordFile file;
  Process(const Data& data, const std::string& boot_id) : file(data.path, boot_id, loop) {
    timeline.run_until(MonoTime(1000s));
  }
};

AgentRecord some_record() {
  return {.lease_until = MonoTime(1030s),
          .ranks_until = MonoTime(1037s),
          .fence = 37s,
          .peers = {.version = 4, .peers = {{"node-2", "10.0.0.2", 7703}, {"node-3", "n3", 1}}},
          .seen = {Epoch{3}, 99},
          .seen_proof = std::string("\x00\xff\"bytes", 8)};
}

TEST(AgentRecord, IsFoundByTheNextProcessOfTheSameBoot) {
  Data data;
  Process first(data, "boot-1");
  EXPECT_EQ(first.file.load(), std::nullopt);
  first.file.set_peer_port(41'000);
  ASSERT_TRUE(first.file.save(some_record()).is_ok());
  Process second(data, "boot-1");
  std::optional<AgentRecord> found = second.file.load();
  ASSERT_TRUE(found.has_value());
  // By the clock of the machine, which has hardly moved meanwhile.
  EXPECT_NEAR(static_cast<double>((found->lease_until - MonoTime(1030s)).count()), 0, 5e6);
  EXPECT_NEAR(static_cast<double>((found->ranks_until - MonoTime(1037s)).count()), 0, 5e6);
  EXPECT_EQ(found->fence, Duration(37s));
  EXPECT_EQ(found->peers, some_record().peers);
  EXPECT_EQ(found->seen, some_record().seen);
  EXPECT_EQ(found->seen_proof, some_record().seen_proof);
  EXPECT_EQ(second.file.peer_port(), 41'000);
}

TEST(AgentRecord, EndsWithTheBootButForThePortAndWhatWasSeen) {
  Data data;
  Process first(data, "boot-1");
  first.file.set_peer_port(41'000);
  ASSERT_TRUE(first.file.save(some_record()).is_ok());
  Process second(data, "boot-2");
  EXPECT_EQ(second.file.load(),
            (AgentRecord{.seen = some_record().seen, .seen_proof = some_record().seen_proof}));
  EXPECT_EQ(second.file.peer_port(), 41'000);
  Process unknown(data, "");
  EXPECT_EQ(unknown.file.load(), std::nullopt);
}

TEST(AgentRecord, OfALeaseThatNeverWasStaysSo) {
  Data data;
  Process first(data, "boot-1");
  AgentRecord record = some_record();
  record.lease_until = {};
  ASSERT_TRUE(first.file.save(record).is_ok());
  EXPECT_EQ(first.file.load()->lease_until, MonoTime{});
}

TEST(AgentRecord, OfAnAgentBeforeTheFenceWasKeptIsRead) {
  Data data;
  data.write(R"({"boot_id":"boot-1","lease_until_boottime_us":0,"fence_us":1,"seen_epoch":2,)"
             R"("seen_seq":3,"peers_version":1,"peers":[]})");
  Process process(data, "boot-1");
  const std::optional<AgentRecord> found = process.file.load();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->ranks_until, MonoTime{});
  EXPECT_EQ(found->seen, (LogPosition{Epoch{2}, 3}));
}

TEST(AgentRecord, ThatIsDamagedIsAsNone) {
  Data data;
  for (const char* text : {"", "{", "[]", "{}", R"({"boot_id":"boot-1"})",
                           R"({"boot_id":"boot-1","lease_until_boottime_us":"x","fence_us":1,)"
                           R"("peers_version":1,"peers":[]})",
                           // No number of microseconds: cast, it was any.
                           R"({"boot_id":"boot-1","lease_until_boottime_us":5e29,"fence_us":1,)"
                           R"("peers_version":1,"peers":[]})",
                           R"({"peer_port":70000})"}) {
    data.write(text);
    Process process(data, "boot-1");
    EXPECT_EQ(process.file.load(), std::nullopt) << text;
    EXPECT_EQ(process.file.peer_port(), 0) << text;
  }
}

TEST(AgentRecord, ThatCannotBeWrittenIsAnError) {
  Data data;
  Process process(data, "boot-1");
  std::filesystem::remove_all(data.path);
  EXPECT_FALSE(process.file.save(some_record()).is_ok());
}

TEST(AgentInstance, IsMadeOnceForADataDirectory) {
  Data data;
  const std::string made = find_or_make_instance(data.path, "machine-1").value();
  EXPECT_EQ(made.size(), 32u);
  EXPECT_EQ(find_or_make_instance(data.path, "machine-1").value(), made);
  EXPECT_EQ(find_or_make_instance(data.path, "").value(), made) << "who is not root can't tell";
  Data other;
  EXPECT_NE(find_or_make_instance(other.path, "machine-1").value(), made);
}

TEST(AgentInstance, IsAnotherWhereTheDirectoryIsACopy) {
  Data data;
  const std::string made = find_or_make_instance(data.path, "machine-1").value();
  const std::string copy = find_or_make_instance(data.path, "machine-2").value();
  EXPECT_NE(copy, made);
  EXPECT_EQ(find_or_make_instance(data.path, "machine-2").value(), copy);
}

TEST(AgentInstance, IsMadeAnewWhenTheFileIsNoInstance) {
  Data data;
  for (const std::string text : {"", "\n", "short\n", "0123456789ABCDEF0123456789ABCDEF\n"}) {
    std::ofstream(data.path + "/instance") << text;
    const std::string made = find_or_make_instance(data.path, "").value();
    EXPECT_EQ(made.size(), 32u) << text;
    EXPECT_EQ(find_or_make_instance(data.path, "").value(), made);
  }
}

TEST(AgentInstance, SaysWhyThereIsNone) {
  EXPECT_FALSE(find_or_make_instance("/nowhere/at/all", "").is_ok());
}

}  // namespace
}  // namespace hai
