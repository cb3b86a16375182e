#include "common/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace hai {
namespace {

TEST(LogLine, IsEventThenKeysAndValues) {
  EXPECT_EQ(format_log_line("agent_connected", {{"node", "node-1"}, {"epoch", 3}}),
            "agent_connected node=node-1 epoch=3");
  EXPECT_EQ(format_log_line("started", {}), "started");
}

TEST(LogLine, TakesEveryType) {
  const std::string user = "ann";
  EXPECT_EQ(format_log_line("e", {{"a", user},
                                  {"b", true},
                                  {"c", -5},
                                  {"d", uint64_t{7}},
                                  {"e", 0.5},
                                  {"f", JobId{17}},
                                  {"g", RankKey{JobId{17}, 2, 0}},
                                  {"h", Duration(90s)},
                                  {"i", unix_micros(0)},
                                  {"j", not_found("job 3")}}),
            "e a=ann b=true c=-5 d=7 e=0.5 f=17 g=17.2.0 h=1m30s i=1970-01-01T00:00:00.000Z "
            "j=\"job 3\"");
}

TEST(LogLine, OneEventStaysOneLine) {
  EXPECT_EQ(format_log_line("e", {{"a", ""}, {"b", "x y"}, {"c", "a\"b\\c\nd\x01=\x1b"}}),
            "e a=\"\" b=\"x y\" c=\"a\\\"b\\\\c\\nd\\x01=\\x1b\"");
  const std::string line = format_log_line("e", {{"a", std::string(100'000, 'x')}});
  EXPECT_EQ(line.size(), 4096u + std::string("e a=\"\"...").size());
}

TEST(LogLevel, ReadsItsWords) {
  for (const char* text : {"debug", "info", "warning", "error", "off"}) {
    EXPECT_EQ(to_string(parse_log_level(text).value()), text);
  }
  EXPECT_EQ(parse_log_level("loud").status().message(),
            "unknown log level 'loud', must be debug, info, warning, error or off");
}

TEST(Log, WritesToAFileAtItsLevelFromAnyThread) {
  const std::string path = testing::TempDir() + "log_test.log";
  std::remove(path.c_str());
  ASSERT_TRUE(set_log_file(path).is_ok());
  set_log_level(LogLevel::warning);
  log_info("hidden");
  log_warning("shown", {{"n", 1}});
  set_log_level(LogLevel::debug);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 50; ++i) log_debug("tick", {{"thread", t}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  log_error("last", {{"text", "no {} format"}});
  ASSERT_TRUE(set_log_file("").is_ok());
  set_log_level(LogLevel::info);

  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 202u);
  const std::string kTime = R"(^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z )";
  EXPECT_THAT(lines.front(), testing::MatchesRegex(kTime + "warning shown n=1"));
  EXPECT_THAT(lines.back(), testing::MatchesRegex(kTime + "error last text=\"no .. format\""));
  std::remove(path.c_str());
}

TEST(Log, ReportsAFileItCannotOpen) {
  const std::string directory = testing::TempDir();
  EXPECT_EQ(set_log_file(directory + "/.").code(), Code::unavailable);
}

}  // namespace
}  // namespace hai
