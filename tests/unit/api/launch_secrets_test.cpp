// What a launch gets of secrets: all of them, or none and the reason.

#include "server/api/launch_secrets.h"

#include <gmock/gmock.h>

#include "common/launch_refusal.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

class LaunchSecrets : public ::testing::Test {
 protected:
  void keep(const std::string& user, const std::string& name, const std::string& value) {
    c_.emit(SecretSet{
        {.user = user, .name = name, .sealed = sealer_.seal(seal_name(user, name), value)}});
  }
  LaunchRank opened(std::map<std::string, std::string> secrets, bool has_key = true) {
    LaunchRank order;
    order.user = "ann";
    order.environments = {{"PLAIN", "text"}};
    order.secrets = std::move(secrets);
    open_secrets(c_.state(), has_key ? &sealer_ : nullptr, order);
    EXPECT_TRUE(order.secrets.empty());
    return order;
  }
  // Nothing of the job is in it but the reason.
  void expect_refused(const LaunchRank& order, const std::string& why) {
    ASSERT_EQ(order.environments.size(), 1u);
    EXPECT_THAT(order.environments.at(std::string(kLaunchRefusal)), HasSubstr(why));
  }

  Cluster c_ = cluster(nodes(1, gpus(8)));
  const Sealer sealer_ = Sealer::make("secrets", {std::string(32, 'k')}).value();
};

TEST_F(LaunchSecrets, AreInTheVariablesThatAreNamed) {
  keep("ann", "key", "hunter2");
  keep("bob", "key", "of-bob");
  EXPECT_EQ(opened({{"KEY", "key"}, {"SAME", "key"}}).environments,
            (std::map<std::string, std::string>{
                {"PLAIN", "text"}, {"KEY", "hunter2"}, {"SAME", "hunter2"}}));
}

TEST_F(LaunchSecrets, AreAllThereOrNone) {
  keep("ann", "key", "hunter2");
  keep("bob", "other", "of-bob");
  expect_refused(opened({{"A", "key"}, {"B", "other"}}), "secret other of ann is not there");
  expect_refused(opened({{"A", "key"}}, false), "no secrets.key_file");
}

TEST_F(LaunchSecrets, AreRefusedWhenTheRowIsOfSomebodyElse) {
  c_.emit(SecretSet{
      {.user = "ann", .name = "key", .sealed = sealer_.seal(seal_name("bob", "key"), "of-bob")}});
  expect_refused(opened({{"A", "key"}}), "does not open");
}

TEST_F(LaunchSecrets, HaveALimitTogether) {
  std::map<std::string, std::string> secrets;
  for (int i = 0; i < 17; ++i) {
    const std::string name = "s" + std::to_string(i);
    keep("ann", name, std::string(kSecretBytesMax, 'x'));
    secrets["V" + std::to_string(i)] = name;
  }
  expect_refused(opened(secrets), "more than 1024 KiB");
  secrets.erase("V0");
  EXPECT_EQ(opened(secrets).environments.size(), 17u);
}

TEST_F(LaunchSecrets, AreWipedOnceSent) {
  keep("ann", "key", "hunter2");
  LaunchRank order = opened({{"KEY", "key"}});
  wipe_environments(order);
  EXPECT_TRUE(order.environments.empty());
}

}  // namespace
}  // namespace hai::test
