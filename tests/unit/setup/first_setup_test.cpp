// What a setup leaves behind: whether it was the first one to the end, whose files are whose, and
// where the server listens.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "common/tls/replace_file.h"
#include "server/setup/add_server.h"
#include "server/setup/bundle.h"
#include "server/setup/next_steps.h"
#include "server/setup/setup_files.h"

namespace hai {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// A folder for the config, not there yet, of a server's user who is somebody else.
class SetupFolderTest : public ::testing::Test {
 protected:
  SetupFolderTest() {
    std::string path = ::testing::TempDir() + "setup_folder_XXXXXX";
    root_ = ::mkdtemp(path.data());
    plan_.folder = root_ + "/etc/hai";
    plan_.path = plan_.folder + "/server.yaml";
    plan_.mark.id = "00ff";
    plan_.user = {.name = "other", .home = "/", .uid = ::getuid() + 1, .gid = ::getgid() + 1};
    options_.config = plan_.path;
    options_.cluster = "fire";
    options_.names = {"hai.example"};
    options_.admin = "boss";
    options_.grpc_port = "7700";
    options_.http_port = "7780";
  }
  ~SetupFolderTest() override { fs::remove_all(root_); }

  std::string inside(const std::string& name) const { return plan_.folder + "/" + name; }
  std::string config_text() const {
    return new_config_text(options_, plan_.folder, "host=db dbname=hai user=hai");
  }
  Result<SetupPlan> plan_again() const {
    SetupOptions again;
    again.config = plan_.path;
    again.user = own_unix_user().value().name;
    return make_setup_plan(again);
  }
  // A further server with the config of the first.
  Result<SetupPlan> plan_further(const std::string& listen) const {
    const Bundle bundle{
        .mark = {.id = std::string(32, 'a'), .cluster = "fire"},
        .config = new_config_text(options_, std::string(kBundleFolder), "host=db dbname=hai")};
    const std::string file = root_ + "/bundle";
    EXPECT_TRUE(replace_file(file, format_bundle(bundle), 0600).is_ok());
    SetupOptions further;
    further.config = plan_.path;
    further.user = own_unix_user().value().name;
    further.bundle = file;
    further.names = {"second.example"};
    further.listen = listen;
    return make_setup_plan(further);
  }
  static int mode_of(const std::string& path) {
    return static_cast<int>(fs::status(path).permissions());
  }
  void put(const std::string& name, const std::string& text, mode_t mode) const {
    fs::create_directories(fs::path(inside(name)).parent_path());
    ASSERT_TRUE(replace_file(inside(name), text, mode).is_ok());
  }

  std::string root_;
  SetupPlan plan_;
  SetupOptions options_;
};

// A port was taken, or the power was lost: the config is there, and nothing that comes after it.
TEST_F(SetupFolderTest, AFirstSetupThatDidNotEndIsTheFirstWhenRunAgain) {
  put("server.yaml", config_text(), 0644);
  ASSERT_TRUE(mark_unfinished(plan_.folder).is_ok());
  const Result<SetupPlan> again = plan_again();
  ASSERT_TRUE(again.is_ok()) << again.status().message();
  EXPECT_TRUE(again.value().is_first_setup());
  EXPECT_FALSE(again.value().is_founding) << "a CA and keys that are gone are not made anew";
  const std::string said =
      next_steps(again.value(), {.server = true, .backups = true}, "hai_secret\n", {});
  EXPECT_THAT(said, HasSubstr("  hai_secret\n"));
  EXPECT_THAT(said, HasSubstr("hai-agent join hai.example:7700"));
  EXPECT_THAT(said, HasSubstr("hai-backup.timer dumps the database each day"));

  ASSERT_TRUE(mark_finished(plan_.folder).is_ok());
  const Result<SetupPlan> later = plan_again();
  ASSERT_TRUE(later.is_ok()) << later.status().message();
  EXPECT_FALSE(later.value().is_first_setup());
  EXPECT_THAT(next_steps(later.value(), {.server = true}, "", {}), Not(HasSubstr("hai-backup")));
  EXPECT_TRUE(mark_finished(plan_.folder).is_ok()) << "also where it was never marked";
}

TEST_F(SetupFolderTest, WhatIsPublicIsReadableWhateverItIsCalled) {
  plan_.config.oidc.ca = inside("idp.pem");
  plan_.config.oidc.client_secret_file = inside("oidc.crt");
  plan_.config.conninfo = "host=db sslmode=verify-full sslrootcert=" + inside("store-ca.pem");
  plan_.files = {{inside("idp.pem"), "idp"},
                 {inside("oidc.crt"), "secret"},
                 {inside("more.pem"), "secret"},
                 {inside("store-ca.pem"), "store"}};
  {
    FirstFiles first(plan_);
    ASSERT_TRUE(first.bring_database_files().is_ok());
    EXPECT_EQ(mode_of(inside("store-ca.pem")), 0644);
    first.keep();
  }
  std::vector<std::string> said;
  const Status status = make_files(plan_, said);
  ASSERT_TRUE(status.is_ok()) << status.message();
  EXPECT_EQ(mode_of(inside("idp.pem")), 0644);
  EXPECT_EQ(mode_of(inside("oidc.crt")), 0600);
  EXPECT_EQ(mode_of(inside("more.pem")), 0600);
}

// A setup of before, or a person under a narrow umask, has left them so.
TEST_F(SetupFolderTest, WhatIsPublicIsMadeReadable) {
  plan_.config.oidc.ca = inside("idp/ca.pem");
  plan_.config.secrets_key_file = inside("secrets.key");
  plan_.config.conninfo = "host=db sslmode=verify-full sslrootcert=" + inside("store/ca.pem");
  put("idp/ca.pem", "idp", 0600);
  put("store/ca.pem", "store", 0600);
  put("secrets.key", "secret", 0600);
  for (const char* folder : {"", "idp", "store"}) fs::permissions(inside(folder), fs::perms(0700));
  FirstFiles first(plan_);
  ASSERT_TRUE(first.bring_database_files().is_ok());
  EXPECT_EQ(mode_of(plan_.folder), 0755);
  EXPECT_EQ(mode_of(inside("store")), 0755);
  EXPECT_EQ(mode_of(inside("store/ca.pem")), 0644) << "before the database is asked";
  ASSERT_TRUE(hand_over_files(plan_).is_ok());
  EXPECT_EQ(mode_of(inside("idp")), 0755);
  EXPECT_EQ(mode_of(inside("idp/ca.pem")), 0644);
  EXPECT_EQ(mode_of(inside("secrets.key")), 0600);
}

TEST_F(SetupFolderTest, EachFolderOnTheWayIsOpenUnderANarrowUmask) {
  const std::string ca = inside("ca/store/ca.crt");
  plan_.config.conninfo = "host=db sslmode=verify-full sslrootcert=" + ca;
  plan_.files[ca] = "certificate";
  const mode_t before = ::umask(077);
  {
    FirstFiles first(plan_);
    const Status status = first.bring_database_files();
    ::umask(before);
    ASSERT_TRUE(status.is_ok()) << status.message();
    for (const std::string& folder :
         {root_ + "/etc", plan_.folder, inside("ca"), inside("ca/store")}) {
      EXPECT_EQ(mode_of(folder), 0755) << folder;
    }
    EXPECT_EQ(mode_of(ca), 0644);
  }
  EXPECT_FALSE(is_file(root_ + "/etc")) << "what it has made goes again";
}

TEST_F(SetupFolderTest, TheServerListensWhereItIsTold) {
  const auto config = [&] { return parse_server_config(config_text(), "c").value(); };
  options_.services_port = "7781";
  options_.health_port = "7790";
  EXPECT_EQ(config().grpc_address, "0.0.0.0:7700");
  for (const char* told : {"::", "[::]"}) {
    options_.listen = told;
    ASSERT_TRUE(check_options(options_).is_ok()) << check_options(options_).message();
    EXPECT_EQ(config().grpc_address, "[::]:7700");
    EXPECT_EQ(config().http_address, "[::]:7780");
    EXPECT_EQ(config().services_address, "[::]:7781");
    EXPECT_EQ(config().health_address, "127.0.0.1:7790") << "for nobody on other machines";
  }
  for (const char* other : {"0.0.0.0:7700", "[::", "all", "[::]:7700", "a b"}) {
    options_.listen = other;
    EXPECT_THAT(check_options(options_).message(), HasSubstr("--listen: must be an address"))
        << other;
  }
}

TEST_F(SetupFolderTest, AConfigThatIsThereListensWhereItSays) {
  options_.listen = "::";
  put("server.yaml", config_text(), 0644);
  SetupOptions again;
  again.config = plan_.path;
  again.user = own_unix_user().value().name;
  again.listen = "[::]";
  EXPECT_TRUE(make_setup_plan(again).is_ok()) << make_setup_plan(again).status().message();
  again.listen = "10.0.0.5";
  EXPECT_THAT(make_setup_plan(again).status().message(), HasSubstr("--listen: "));
}

TEST_F(SetupFolderTest, AFurtherServerListensAsTheFirstUnlessThatIsOneAddress) {
  options_.listen = "::";
  Result<SetupPlan> further = plan_further("");
  ASSERT_TRUE(further.is_ok()) << further.status().message();
  EXPECT_EQ(further.value().config.grpc_address, "[::]:7700");
  options_.listen = "10.0.0.5";
  EXPECT_THAT(plan_further("").status().message(),
              HasSubstr("the first server listens at 10.0.0.5 alone: say by --listen"));
  further = plan_further("10.0.0.6");
  ASSERT_TRUE(further.is_ok()) << further.status().message();
  EXPECT_EQ(further.value().config.grpc_address, "10.0.0.6:7700");
  EXPECT_EQ(further.value().config.http_address, "10.0.0.6:7780");
}

TEST_F(SetupFolderTest, AServerThatIsAddedIsToldWhereToListen) {
  options_.names.clear();
  options_.add_server = "root@server-2";
  EXPECT_THAT(further_server_script(options_, ""), Not(HasSubstr("--listen")));
  options_.listen = "[::]";
  EXPECT_THAT(further_server_script(options_, ""), HasSubstr(" --listen ::"));
}

}  // namespace
}  // namespace hai
