#include "common/config/config_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/yaml_reader.h"

namespace hai {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kReloaded[] = {"archive.", "log.level"};

ConfigKeys keys_of(std::string_view text) { return YamlReader(text).keys(); }

TEST(ConfigKeys, AreEachValueByItsPath) {
  const ConfigKeys keys = keys_of(
      "log: {level: info, file:}\ngroups: [a, b]\nknobs:\n  policy: \"fifo\"  # why\nempty: {}\n");
  EXPECT_EQ(keys, (ConfigKeys{
                      {"groups", "- a\n- b\n"}, {"knobs.policy", "fifo"}, {"log.level", "info"}}));
  EXPECT_THAT(keys_of(""), IsEmpty());
}

TEST(ConfigChange, TellsWhatIsTakenFromWhatWaits) {
  const ConfigKeys before = keys_of("log: {level: info}\ncluster: a\nlisten: {grpc: x}\n");
  const ConfigKeys after =
      keys_of("log: {level: debug}\ncluster: a\narchive: {dir: /d, older_than: 1d}\n");
  const ConfigChange change = compare_configs(before, after, kReloaded);
  EXPECT_THAT(change.taken, ElementsAre("archive.dir", "archive.older_than", "log.level"));
  EXPECT_THAT(change.waiting, ElementsAre("listen.grpc"));
}

TEST(ConfigChange, OfFormAloneIsNone) {
  const ConfigChange change =
      compare_configs(keys_of("groups: [a, b]\nlog:\n  level: info\n"),
                      keys_of("# new\nlog: {level: \"info\"}\ngroups:\n- a\n- b\n"), kReloaded);
  EXPECT_THAT(change.taken, IsEmpty());
  EXPECT_THAT(change.waiting, IsEmpty());
}

// What waits for a restart is said each time, what was taken once.
TEST(ConfigChange, LeavesWhatWaitsForTheNextTime) {
  const ConfigKeys before = keys_of("log: {level: info}\ncluster: a\n");
  const ConfigKeys after = keys_of("cluster: b\n");
  const ConfigChange first = compare_configs(before, after, kReloaded);
  EXPECT_THAT(first.taken, ElementsAre("log.level"));
  const ConfigKeys now = keys_after(before, after, first);
  EXPECT_EQ(now, (ConfigKeys{{"cluster", "a"}}));
  const ConfigChange second = compare_configs(now, after, kReloaded);
  EXPECT_THAT(second.taken, IsEmpty());
  EXPECT_THAT(second.waiting, ElementsAre("cluster"));
}

}  // namespace
}  // namespace hai
