#include "cli/context_config.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cli/file.h"

namespace hai::cli {
namespace {

ContextConfig two_clusters() {
  return {
      .current = "dev",
      .contexts = {
          {.name = "dev", .servers = {"127.0.0.1:7000"}, .token = "t1", .dev_data = "/var/lib/x"},
          {.name = "prod", .servers = {"a:1", "b:2"}, .token = "t2", .ca = "PEM"}}};
}

class ContextFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "/hai-context-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = folder + "/new/config.json";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  std::string path_;
};

TEST(ContextConfig, RoundTripsThroughJson) {
  const Result<ContextConfig> back = parse_contexts(format_contexts(two_clusters()));
  ASSERT_TRUE(back.is_ok()) << back.status().message();
  EXPECT_EQ(back.value(), two_clusters());
}

TEST(ContextConfig, ChoosesTheCurrentOrTheNamedOne) {
  EXPECT_EQ(choose_context(two_clusters(), "").value().name, "dev");
  EXPECT_EQ(choose_context(two_clusters(), "prod").value().token, "t2");
  EXPECT_EQ(choose_context(two_clusters(), "test").status(),
            not_found("no context test: known are dev, prod"));
  EXPECT_EQ(choose_context({}, "").status().code(), Code::failed_precondition);
  ContextConfig no_current = two_clusters();
  no_current.current = "";
  EXPECT_EQ(choose_context(no_current, "").status(),
            failed_precondition("no cluster is the current one: choose with --context: dev, prod"));
}

TEST(ContextConfig, PutReplacesAndRemoveForgetsTheCurrentOne) {
  ContextConfig config = two_clusters();
  put_context(config, {.name = "dev", .servers = {"c:3"}, .token = ""});
  EXPECT_EQ(config.contexts.size(), 2U);
  EXPECT_EQ(config.contexts[0].servers, std::vector<std::string>{"c:3"});
  EXPECT_TRUE(remove_context(config, "dev"));
  EXPECT_FALSE(remove_context(config, "dev"));
  EXPECT_EQ(config.current, "");
}

TEST(ContextConfig, WhatWasCurrentBeforeIsSoAgain) {
  ContextConfig config = two_clusters();
  put_context(config, {.name = "ux", .servers = {"d:4"}, .token = "", .before = "dev"});
  config.current = "ux";
  config = parse_contexts(format_contexts(config)).value();
  EXPECT_TRUE(remove_context(config, "ux"));
  EXPECT_EQ(config.current, "dev");
  config.contexts[1].before = "ux";
  config.current = config.contexts[1].name;
  EXPECT_TRUE(remove_context(config, config.current));
  EXPECT_EQ(config.current, "") << "that one is gone, too";
}

TEST(ContextConfig, ReadsServerAddresses) {
  EXPECT_EQ(parse_server_address("grpc://10.0.0.1:7000").value(), "10.0.0.1:7000");
  EXPECT_EQ(parse_server_address("head:7000/").value(), "head:7000");
  for (const char* bad :
       {"", "head", "http://head:1", ":7", "head:", "head:x", "head:70000", "h:0"}) {
    EXPECT_EQ(parse_server_address(bad).status().code(), Code::invalid_argument) << bad;
  }
}

TEST_F(ContextFile, AMissingFileIsEmptyAndUpdatesCreateItForTheUserOnly) {
  EXPECT_EQ(load_contexts(path_).value(), ContextConfig{});
  ASSERT_TRUE(
      update_contexts(path_, [](ContextConfig& config) { config = two_clusters(); }).is_ok());
  EXPECT_EQ(load_contexts(path_).value(), two_clusters());
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(ContextFile, ABrokenFileIsNamedAndNotOverwritten) {
  ASSERT_TRUE(make_directories(folder_ + "/new", 0700).is_ok());
  ASSERT_TRUE(write_file(path_, "{", 0600).is_ok());
  const Status status = update_contexts(path_, [](ContextConfig&) {});
  EXPECT_EQ(status.code(), Code::failed_precondition);
  EXPECT_NE(status.message().find(path_), std::string::npos);
  EXPECT_EQ(read_file(path_).value(), "{");
}

TEST_F(ContextFile, UpdatesAtOnceLoseNothing) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i] {
      const Status status = update_contexts(path_, [i](ContextConfig& config) {
        put_context(config, {.name = "c" + std::to_string(i), .servers = {"h:1"}, .token = ""});
      });
      EXPECT_TRUE(status.is_ok()) << status.message();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(load_contexts(path_).value().contexts.size(), 8U);
}

}  // namespace
}  // namespace hai::cli
