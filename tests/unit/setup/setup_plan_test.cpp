#include "server/setup/setup_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "common/host_port.h"
#include "common/tls/replace_file.h"
#include "common/whole_file.h"
#include "server/setup/add_server.h"
#include "server/setup/next_steps.h"
#include "server/setup/setup_files.h"
#include "server/setup/share_database.h"
#include "server/setup/sign_in.h"
#include "server/store/conninfo.h"

namespace hai {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

SetupOptions told() {
  SetupOptions options;
  options.cluster = "fire";
  options.names = {"hai.example", "10.0.0.1"};
  options.admin = "boss";
  options.grpc_port = "7700";
  options.http_port = "7780";
  options.health_port = "7790";
  return options;
}

ServerConfig config_of(const std::string& text) {
  const Result<ServerConfig> config = parse_server_config(text, "c");
  EXPECT_TRUE(config.is_ok()) << config.status().message() << "\n" << text;
  return config.is_ok() ? config.value() : ServerConfig();
}

TEST(SetupPlan, WritesAConfigThatSaysWhatWasTold) {
  const ServerConfig config =
      config_of(new_config_text(told(), "/etc/hai", "host=/run dbname=hai"));
  EXPECT_EQ(config.cluster, "fire");
  EXPECT_EQ(config.advertise.grpc, "hai.example:7700");
  EXPECT_EQ(config.http_address, "0.0.0.0:7780");
  EXPECT_EQ(config.health_address, "127.0.0.1:7790") << "for nobody on other machines";
  EXPECT_EQ(config.conninfo, "host=/run dbname=hai");
  EXPECT_EQ(config.tls.certificate, "/etc/hai/server.crt");
  EXPECT_EQ(config.tls.ca, "/etc/hai/ca/ca.crt");
  EXPECT_EQ(config.authority, "/etc/hai/ca");
  EXPECT_EQ(config.secrets_key_file, "/etc/hai/secrets.key");
  EXPECT_EQ(config.admin_user, "boss");
}

TEST(SetupPlan, NamesTheSitesOwnFiles) {
  SetupOptions options = told();
  options.authority = "/srv/ca \"x\"";
  options.certificate = "/srv/s.crt";
  options.key = "/srv/s.key";
  options.names = {"fd00::1"};
  const ServerConfig config = config_of(new_config_text(options, "/etc/hai", "dbname=hai"));
  EXPECT_EQ(config.authority, "/srv/ca \"x\"");
  EXPECT_EQ(config.tls.key, "/srv/s.key");
  EXPECT_EQ(split_host_port(config.advertise.grpc).host, "fd00::1");
}

TEST(SetupPlan, AFurtherServerDiffersInWhatIsItsOwn) {
  const std::string first =
      new_config_text(told(), "@folder@", "host=db dbname=hai") + "knobs: {down_after: 60s}\n";
  SetupOptions options;
  options.names = {"second.example"};
  const std::string text = further_config_text(first, options, "/srv/hai");
  const ServerConfig config = config_of(text);
  EXPECT_EQ(config.advertise.grpc, "second.example:7700");
  EXPECT_EQ(config.conninfo, "host=db dbname=hai");
  EXPECT_EQ(config.authority, "/srv/hai/ca");
  EXPECT_EQ(config.admin_token_file, "");
  EXPECT_THAT(text, Not(HasSubstr("@folder@")));
  EXPECT_THAT(text, HasSubstr("knobs: {down_after: 60s}"));
  options.grpc_port = "17700";
  options.database = "host=db2";
  const ServerConfig other = config_of(further_config_text(first, options, "/srv/hai"));
  EXPECT_EQ(other.grpc_address, "0.0.0.0:17700");
  EXPECT_EQ(other.http_address, "0.0.0.0:7780");
  EXPECT_EQ(other.health_address, "127.0.0.1:7790");
  EXPECT_EQ(other.advertise.grpc, "second.example:17700");
  EXPECT_EQ(other.conninfo, "host=db2");
}

// Where the site lets others ask how it is, or listens at one address only.
TEST(SetupPlan, AFurtherServerWithOtherPortsListensWhereTheFirstDoes) {
  std::string first = new_config_text(told(), "@folder@", "host=db dbname=hai");
  const auto change = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(first.find(from), std::string::npos) << first;
    first.replace(first.find(from), from.size(), to);
  };
  change("127.0.0.1:7790", "0.0.0.0:7790");
  change("0.0.0.0:7780", "[fd00::1]:7780");
  SetupOptions options;
  options.names = {"second.example"};
  options.grpc_port = "17700";
  options.http_port = "17780";
  const ServerConfig config = config_of(further_config_text(first, options, "/srv/hai"));
  EXPECT_EQ(config.grpc_address, "0.0.0.0:17700");
  EXPECT_EQ(config.http_address, "[fd00::1]:17780");
  EXPECT_EQ(config.health_address, "0.0.0.0:7790");
  options.health_port = "17790";
  EXPECT_EQ(config_of(further_config_text(first, options, "/srv/hai")).health_address,
            "0.0.0.0:17790");
}

TEST(SetupOptions, GiveEachPortToOne) {
  SetupOptions options = told();
  EXPECT_TRUE(check_options(options).is_ok()) << check_options(options).message();
  options.health_port = options.http_port;
  EXPECT_THAT(std::string(check_options(options).message()),
              HasSubstr("--health-port: is that of --http-port"));
  options.health_port = "0";
  EXPECT_THAT(std::string(check_options(options).message()), HasSubstr("--health-port: must be"));
}

TEST(NextSteps, ShowTheTokenOnlyWhenItIsNew) {
  SetupPlan plan;
  plan.folder = "/etc/hai";
  plan.path = "/etc/hai/server.yaml";
  plan.is_founding = true;
  plan.config = config_of(new_config_text(told(), "/etc/hai", "dbname=hai"));
  EXPECT_EQ(plan.config.archive_dir, "/var/lib/hai/archive");
  EXPECT_EQ(plan.config.archive_older_than, "90d");
  const SignedIn nobody;
  EXPECT_THAT(next_steps(plan, {.server = true}, "hai_secret\n", nobody),
              HasSubstr("  hai_secret\n"));
  EXPECT_THAT(next_steps(plan, {.server = true}, "hai_secret\n", nobody),
              HasSubstr("holds for 90d"));
  EXPECT_THAT(next_steps(plan, {.server = true}, "", nobody), Not(HasSubstr("shown this once")));
  EXPECT_THAT(next_steps(plan, {}, "", nobody),
              HasSubstr("hai-server --config /etc/hai/server.yaml"));
  EXPECT_THAT(next_steps(plan, {.server = true}, "", nobody),
              HasSubstr("hai init - --url https://hai.example:7700 --ca /etc/hai/ca/ca.crt < "));
  plan.is_founding = false;
  EXPECT_THAT(next_steps(plan, {.server = true}, "", nobody), Not(HasSubstr("hai init")));
}

TEST(NextSteps, LeaveOutWhatSetupHasDone) {
  SetupPlan plan;
  plan.folder = "/etc/hai";
  plan.is_founding = true;
  plan.config = config_of(new_config_text(told(), "/etc/hai", "dbname=hai"));
  const SignedIn done{.is_in = true, .join_line = "hai-agent join hai.example:7700 --token x"};
  const std::string text = next_steps(plan, {.server = true}, "", done);
  EXPECT_THAT(text, HasSubstr("root of this machine is boss now"));
  EXPECT_THAT(text, HasSubstr("\n  hai-agent join hai.example:7700 --token x\n"));
  EXPECT_THAT(text, Not(HasSubstr("hai node token create")));
  EXPECT_THAT(text, Not(HasSubstr("< /etc/hai/admin.token")));
}

TEST(NextSteps, NameTheBackupUnlessItIsOn) {
  SetupPlan plan;
  plan.folder = "/etc/hai";
  plan.is_founding = true;
  plan.config = config_of(new_config_text(told(), "/etc/hai", "dbname=hai"));
  const std::string by_hand = "\n  systemctl enable --now hai-backup.timer\n";
  EXPECT_THAT(next_steps(plan, {.server = true}, "", {}), HasSubstr(by_hand));
  const std::string done = next_steps(plan, {.server = true, .backups = true}, "", {});
  EXPECT_THAT(done, Not(HasSubstr(by_hand)));
  EXPECT_THAT(done, HasSubstr("\nhai-backup.timer dumps the database each day"));
  EXPECT_THAT(done, HasSubstr("\n  systemctl enable --now hai-archive.timer\n"));
}

TEST(NextSteps, NameTheContextIfItIsNotCalledAsTheCluster) {
  SetupPlan plan;
  plan.folder = "/etc/hai";
  plan.is_founding = true;
  plan.config = config_of(new_config_text(told(), "/etc/hai", "dbname=hai"));
  SignedIn done{.is_in = true, .context = "fire"};
  EXPECT_THAT(next_steps(plan, {.server = true}, "", done), HasSubstr("`hai` works here.\n"));
  done.context = "fire-2";
  const std::string said = ", by the context fire-2 (fire has none of these addresses).\n";
  EXPECT_THAT(next_steps(plan, {.server = true}, "", done), HasSubstr("`hai` works here" + said));
  EXPECT_THAT(next_steps_beside(plan, "b:7700", done), HasSubstr("asks it as well" + said));
}

// A join token that is made by the context of another cluster leads the nodes there.
TEST(SignIn, TakesNoContextOfOtherServers) {
  const std::vector<std::string> own{"b:7700", "b2:7700"};
  EXPECT_EQ(context_for("hai", own, {}), "hai");
  EXPECT_EQ(context_for("hai", own, {{"x", {"a:7700"}}, {"y", {}}}), "hai");
  EXPECT_EQ(context_for("hai", own, {{"hai", {"b2:7700"}}}), "hai");
  const KnownContext other{"hai", {"a:7700", "b:7701"}};
  EXPECT_EQ(context_for("hai", own, {other}), "hai-2");
  EXPECT_EQ(context_for("hai", own, {{"hai-2", {"c:7700", "b:7700"}}, other}), "hai-2") << "again";
  EXPECT_EQ(context_for("hai", own, {{"hai-2", {"c:7700"}}, other}), "hai-3");
}

// A `hai` that has signed in nowhere, at the head of PATH.
class StrangerToHai {
 public:
  StrangerToHai() {
    std::string path = ::testing::TempDir() + "sign_in_XXXXXX";
    folder_ = ::mkdtemp(path.data());
    const Status written =
        replace_file(folder_ + "/hai", "#!/bin/sh\n[ \"$*\" = --version ]\n", 0755);
    EXPECT_TRUE(written.is_ok()) << written.message();
    ::setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
  }
  ~StrangerToHai() {
    ::setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }

 private:
  const std::string path_ = ::getenv("PATH");
  std::string folder_;
};

TEST(SignIn, SaysThatTheTokenIsGone) {
  const StrangerToHai hai;
  SetupPlan plan;
  plan.folder = "/nowhere";
  plan.config = config_of(new_config_text(told(), "/nowhere", "dbname=hai"));
  const SignedIn alone = sign_in(plan);
  EXPECT_FALSE(alone.is_in);
  EXPECT_THAT(alone.complaint, HasSubstr("/nowhere/admin.token is gone"));
  EXPECT_THAT(alone.complaint,
              HasSubstr("`hai init - --url https://hai.example:7700 --ca /nowhere/ca/ca.crt`"));
  EXPECT_THAT(sign_in_beside(plan, "b:7700").complaint, HasSubstr("--url https://b:7700 --ca"));
}

class FirstFilesTest : public ::testing::Test {
 protected:
  FirstFilesTest() {
    std::string path = ::testing::TempDir() + "first_files_XXXXXX";
    root_ = ::mkdtemp(path.data());
    plan_.folder = root_ + "/hai";
    plan_.mark.id = "00ff";
    plan_.user = own_unix_user().value();
    plan_.config.conninfo = "host=db passfile=" + passfile();
    plan_.files[passfile()] = "*:*:*:hai:new\n";
  }
  ~FirstFilesTest() override { std::filesystem::remove_all(root_); }

  std::string passfile() const { return plan_.folder + "/pgpass"; }

  std::string root_;
  SetupPlan plan_;
};

TEST_F(FirstFilesTest, GoAgainUnlessTheyAreKept) {
  for (const bool is_kept : {false, true}) {
    std::vector<std::string> said;
    {
      FirstFiles first(plan_);
      ASSERT_TRUE(first.bring_database_files().is_ok());
      ASSERT_TRUE(first.bring_id(said).is_ok());
      EXPECT_EQ(read_whole_file(passfile()).value(), "*:*:*:hai:new\n");
      EXPECT_EQ(read_whole_file(plan_.folder + "/cluster.id").value(), "00ff\n");
      if (is_kept) first.keep();
    }
    EXPECT_EQ(said, std::vector{plan_.folder + "/cluster.id written"});
    EXPECT_EQ(is_file(plan_.folder), is_kept);
  }
  // What was there before stays in any case.
  {
    FirstFiles first(plan_);
    std::vector<std::string> said;
    EXPECT_TRUE(first.bring_database_files().is_ok());
    EXPECT_TRUE(first.bring_id(said).is_ok());
    EXPECT_TRUE(said.empty());
  }
  EXPECT_TRUE(is_file(passfile()));
  EXPECT_TRUE(is_file(plan_.folder + "/cluster.id"));
}

// Without it the database could not be asked: it would not be believed.
TEST_F(FirstFilesTest, BringTheCaOfTheDatabase) {
  const std::string ca = plan_.folder + "/ca/ca.crt";
  plan_.config.conninfo += " sslmode=verify-full sslrootcert=" + ca;
  plan_.files[ca] = "certificate";
  for (const bool is_kept : {false, true}) {
    FirstFiles first(plan_);
    ASSERT_TRUE(first.bring_database_files().is_ok());
    EXPECT_EQ(read_whole_file(ca).value(), "certificate");
    EXPECT_EQ(std::filesystem::status(ca).permissions(), std::filesystem::perms(0644));
    EXPECT_TRUE(is_file(passfile()));
    if (is_kept) first.keep();
  }
  EXPECT_TRUE(is_file(ca));
  ASSERT_TRUE(replace_file(ca, "another", 0644).is_ok());
  EXPECT_EQ(FirstFiles(plan_).bring_database_files().code(), Code::already_exists);
}

TEST_F(FirstFilesTest, TakeAwayTheFoldersThatTheyHaveMade) {
  const std::string ca = plan_.folder + "/ca/ca.crt";
  plan_.config.conninfo += " sslmode=verify-full sslrootcert=" + ca;
  plan_.files[ca] = "certificate";
  {
    FirstFiles first(plan_);
    ASSERT_TRUE(first.bring_database_files().is_ok());
  }
  EXPECT_FALSE(is_file(plan_.folder));
}

// A setup was stopped by Ctrl-C, and is run again with the right password: the database would be
// asked with the one in the file.
TEST_F(FirstFilesTest, APassfileWithAnotherPasswordIsNamed) {
  std::filesystem::create_directory(plan_.folder);
  ASSERT_TRUE(replace_file(passfile(), "*:*:*:hai:old\n", 0600).is_ok());
  {
    FirstFiles first(plan_);
    const Status status = first.bring_database_files();
    EXPECT_EQ(status.code(), Code::already_exists);
    EXPECT_EQ(std::string(status.message()),
              passfile() + " is there already and is another one: move it away first");
  }
  EXPECT_EQ(read_whole_file(passfile()).value(), "*:*:*:hai:old\n");
}

// libpq would not speak TLS where it may not look for a client's certificate.
TEST(UnixUser, LeavesAHomeThatIsClosedToIt) {
  const char* own = ::getenv("HOME");
  const std::string home = own == nullptr ? "/" : own;
  ::setenv("HOME", "/nowhere", 1);
  leave_closed_home();
  EXPECT_EQ(::getenv("HOME"), nullptr);
  ::setenv("HOME", "/", 1);
  leave_closed_home();
  EXPECT_STREQ(::getenv("HOME"), "/");
  ::setenv("HOME", home.c_str(), 1);
}

TEST(FurtherServer, IsInstalledAndGivenTheBundle) {
  SetupOptions options;
  options.add_server = "root@server-2";
  EXPECT_TRUE(further_server_script(options, "").ends_with(" --names server-2"));
  options.names = {"server-2", "192.0.2.12"};
  const std::string script = further_server_script(options, "1.2+git3~rc1");
  EXPECT_THAT(script, HasSubstr("apt-get install -y --no-install-recommends "
                                "hai-server=1.2+git3~rc1 hai-web=1.2+git3~rc1 "
                                "hai-cli=1.2+git3~rc1; "));
  EXPECT_THAT(further_server_script(options, ""), HasSubstr(" hai-server hai-web hai-cli; "));
  EXPECT_TRUE(script.ends_with("exec hai-server setup --bundle - --names server-2,192.0.2.12"));
  options.starts = false;
  EXPECT_TRUE(further_server_script(options, "").ends_with("192.0.2.12 --no-start"));
}

TEST(FurtherServer, IsNamedByItsHost) {
  SetupOptions options = told();
  for (const char* good : {"server-2", "root@server-2", "root@192.0.2.12", "root@fd00::1"}) {
    options.add_server = good;
    EXPECT_TRUE(check_options(options).is_ok()) << good;
  }
  for (const char* bad : {"-oProxyCommand=x", "root@", "root@-x", "root@a b", "@a", "a@b@c"}) {
    options.add_server = bad;
    EXPECT_THAT(std::string(check_options(options).message()), HasSubstr("--add-server")) << bad;
  }
}

TEST(SharedDatabase, LetsOneAddressIn) {
  const Result<LocalDatabase> database =
      local_database_of("host=/var/run/postgresql dbname=hai user=own");
  ASSERT_TRUE(database.is_ok());
  EXPECT_EQ(hba_line(database.value(), "192.0.2.12"),
            "hostssl hai own 192.0.2.12/32 scram-sha-256");
  EXPECT_EQ(hba_line(database.value(), "fd00::1"), "hostssl hai own fd00::1/128 scram-sha-256");
  for (const char* other : {"host=localhost dbname=hai user=hai", "host=/run user=hai", "x"}) {
    EXPECT_FALSE(local_database_of(other).is_ok()) << other;
  }
}

const LocalDatabase kDatabase{.socket = "/run", .role = "own", .name = "hai"};

TEST(SharedDatabase, IsReachedByTlsAndProvesWhoItIs) {
  const std::string passfile = "/etc/hai/pgpass";
  const std::string proved =
      further_conninfo(kDatabase, {"db.example", "5432"}, passfile, "/etc/my ca/ca.crt");
  std::map<std::string, std::string> words = parse_conninfo(proved).value();
  EXPECT_EQ(words["sslmode"], "verify-full");
  EXPECT_EQ(words["sslrootcert"], "/etc/my ca/ca.crt");
  EXPECT_EQ(words["host"], "db.example");
  EXPECT_EQ(words["passfile"], passfile);
  EXPECT_FALSE(words.contains("port"));
  words = parse_conninfo(further_conninfo(kDatabase, {"fd00::1", "5433"}, passfile, "")).value();
  EXPECT_EQ(words["sslmode"], "require");
  EXPECT_EQ(words["port"], "5433");
}

// Of two PostgreSQLs on a machine it is the one that hai uses.
TEST(SharedDatabase, IsThatOfItsPort) {
  const std::string words = "host=/var/run/postgresql port=5433 dbname=hai user=own";
  const Result<LocalDatabase> database = local_database_of(words);
  ASSERT_TRUE(database.is_ok());
  EXPECT_EQ(conninfo_of(database.value()), words);
  EXPECT_EQ(administrator_conninfo(database.value()),
            "host=/var/run/postgresql port=5433 user=postgres dbname=postgres");
  EXPECT_EQ(password_in("*:5432:hai:own:a\n*:5433:hai:own:b\n", database.value(), "db"), "b");
  const std::string usual = "host=/var/run/postgresql dbname=hai user=own";
  EXPECT_EQ(conninfo_of(local_database_of(usual).value()), usual);
  EXPECT_FALSE(local_database_of(words + " hostaddr=127.0.0.1").is_ok());
}

TEST(SharedDatabase, FindsItsPasswordInAPassfile) {
  const auto password = [](const std::string& text) { return password_in(text, kDatabase, "db"); };
  EXPECT_EQ(password("*:*:hai:own:a\n"), "a");
  EXPECT_EQ(password("# *:*:hai:own:a\nother:*:*:*:b\ndb:5432:*:own:c\\:\\\\:d\n*:*:*:*:e"),
            "c:\\:d");
  for (const char* text : {"", "x", "*:*:hai:boss:a\n", "*:*:other:own:a\n", "*:*:hai:own\n"}) {
    EXPECT_EQ(password(text), "") << text;
  }
}

// Also the second time, and by whom another one has overtaken: a role of a PostgreSQL that was made
// anew gets the password that the further servers have.
TEST_F(FirstFilesTest, APasswordIsMadeOnceAndFoundAgain) {
  std::filesystem::create_directory(plan_.folder);
  const auto bring = [&] { return bring_password(passfile(), kDatabase, "db", plan_.user); };
  const Result<std::string> made = bring();
  ASSERT_TRUE(made.is_ok()) << made.status().message();
  EXPECT_EQ(read_whole_file(passfile()).value(), "*:*:hai:own:" + made.value() + "\n");
  EXPECT_EQ(std::filesystem::status(passfile()).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(bring().value(), made.value());
  const std::filesystem::directory_iterator files(plan_.folder);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  ASSERT_TRUE(replace_file(passfile(), "*:*:other:own:x\n", 0600).is_ok());
  EXPECT_THAT(bring().status().message(), HasSubstr("has no password of the role own"));
}

}  // namespace
}  // namespace hai
