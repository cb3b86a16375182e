#include "common/log.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>
#include <vector>

#include "common/journal.h"

namespace hai {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

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

TEST(JournalEntry, IsTheLineItsEventAndEachKey) {
  const std::string own = std::string("SYSLOG_IDENTIFIER=") + program_invocation_short_name + "\n";
  EXPECT_EQ(journal_entry(6, "attempt_placed", {{"job", JobId{7}}, {"nodes", "a b"}}),
            "MESSAGE=attempt_placed job=7 nodes=\"a b\"\nPRIORITY=6\n" + own +
                "HAI_EVENT=attempt_placed\nHAI_JOB=7\nHAI_NODES=a b\n");
  EXPECT_EQ(journal_entry(4, "e", {{"rank", RankKey{JobId{17}, 2, 0}}, {"a.b-c", 1}}),
            "MESSAGE=e rank=17.2.0 a.b-c=1\nPRIORITY=4\n" + own +
                "HAI_EVENT=e\nHAI_RANK=17.2.0\nHAI_JOB=17\nHAI_A_B_C=1\n");
  const std::string long_key(100, 'k');
  EXPECT_TRUE(
      journal_entry(4, "e", {{long_key, 1}}).ends_with("\nHAI_" + std::string(60, 'K') + "=1\n"));
}

// Else what a person has written could be a field of its own.
TEST(JournalEntry, KeepsAValueOfSeveralLinesInOneField) {
  const std::string entry = journal_entry(6, "e", {{"text", "a\nPRIORITY=0"}});
  EXPECT_TRUE(entry.ends_with(std::string("HAI_TEXT\n\x0c\0\0\0\0\0\0\0a\nPRIORITY=0\n", 30)));
  EXPECT_EQ(entry.find("\nPRIORITY=0"), entry.rfind("\nPRIORITY=0"));
}

// A journal of which the test says when it reads.
class SlowJournal {
 public:
  SlowJournal() : reader_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {}
  ~SlowJournal() {
    ::close(reader_);
    ::unlink(path_.c_str());
  }

  const char* path() const { return path_.c_str(); }
  void open() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(reader_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  // What has come.
  std::vector<std::string> read() {
    std::vector<std::string> entries;
    char text[8192];
    for (ssize_t size = 0; (size = ::recv(reader_, text, sizeof text, 0)) >= 0;) {
      entries.emplace_back(text, static_cast<size_t>(size));
    }
    return entries;
  }

 private:
  const std::string path_ = testing::TempDir() + "journal_" + std::to_string(::getpid());
  int reader_;
};

TEST(JournalSocket, SaysWhetherAnEntryHasCome) {
  SlowJournal reader;
  DroppedLines dropped;
  const JournalSocket journal(dropped, reader.path());
  EXPECT_FALSE(journal.is_there());
  EXPECT_EQ(journal.send("MESSAGE=a\n"), Taken::no);
  reader.open();
  EXPECT_TRUE(journal.is_there());
  EXPECT_EQ(journal.send("MESSAGE=a\n"), Taken::yes);
  EXPECT_THAT(reader.read(), testing::ElementsAre("MESSAGE=a\n"));
  EXPECT_EQ(dropped.take(), 0u);
}

// Who waited for a journal that hangs would hang with it: here it would, until the test's end.
TEST(JournalSocket, WaitsForNoJournalThatHangsAndTellsOfTheLinesLater) {
  SlowJournal reader;
  reader.open();
  DroppedLines dropped;
  const JournalSocket journal(dropped, reader.path());
  constexpr size_t kSent = 10'000;
  size_t taken = 0;
  for (size_t i = 0; i < kSent; ++i) {
    if (journal.send(fmt::format("MESSAGE={}\n", i)) == Taken::yes) ++taken;
  }
  ASSERT_GT(taken, 0u);
  ASSERT_LT(taken, kSent);
  EXPECT_EQ(reader.read().size(), taken);
  EXPECT_EQ(journal.send("MESSAGE=again\n"), Taken::yes);
  const std::vector<std::string> entries = reader.read();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_THAT(entries[0], testing::StartsWith(
                              fmt::format("MESSAGE=log_lines_dropped lines={}\n", kSent - taken)));
  EXPECT_EQ(entries[1], "MESSAGE=again\n");
  EXPECT_EQ(journal.send("MESSAGE=then\n"), Taken::yes);
  EXPECT_THAT(reader.read(), testing::ElementsAre("MESSAGE=then\n"));
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

  const std::vector<std::string> lines = lines_of(path);
  ASSERT_EQ(lines.size(), 202u);
  const std::string kTime = R"(^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z )";
  EXPECT_THAT(lines.front(), testing::MatchesRegex(kTime + "warning shown n=1"));
  EXPECT_THAT(lines.back(), testing::MatchesRegex(kTime + "error last text=\"no .. format\""));
  std::remove(path.c_str());
}

TEST(Log, OpensAFileAgainThatWasMovedAway) {
  const std::string path = testing::TempDir() + "log_test_moved.log";
  std::remove(path.c_str());
  ASSERT_TRUE(set_log_file(path).is_ok());
  log_info("first");
  ASSERT_EQ(std::rename(path.c_str(), (path + ".1").c_str()), 0);
  log_info("second");
  ASSERT_TRUE(reopen_log_file().is_ok());
  log_info("third");
  ASSERT_TRUE(set_log_file("").is_ok());
  EXPECT_EQ(lines_of(path + ".1").size(), 2u);
  ASSERT_EQ(lines_of(path).size(), 1u);
  EXPECT_THAT(lines_of(path).front(), testing::EndsWith("info third"));
  std::remove(path.c_str());
  std::remove((path + ".1").c_str());
}

// Takes stderr as systemd does that gives it to the journal.
class Journal {
 public:
  explicit Journal(const std::string& path)
      : Journal(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {}
  // Closes it.
  explicit Journal(int stream) : stderr_(::dup(STDERR_FILENO)) {
    ::dup2(stream, STDERR_FILENO);
    ::close(stream);
    struct stat found {};
    ::fstat(STDERR_FILENO, &found);
    ::setenv("JOURNAL_STREAM", fmt::format("{}:{}", found.st_dev, found.st_ino).c_str(), 1);
  }
  ~Journal() {
    ::dup2(stderr_, STDERR_FILENO);
    ::close(stderr_);
    ::unsetenv("JOURNAL_STREAM");
    EXPECT_TRUE(set_log_file("").is_ok());
  }

 private:
  int stderr_;
};

TEST(Log, LeavesTimeAndLevelToTheJournal) {
  const std::string path = testing::TempDir() + "log_test_journal.log";
  {
    const Journal journal(path);
    ASSERT_TRUE(set_log_file("").is_ok());
    set_log_level(LogLevel::debug);
    log_debug("a");
    log_info("b", {{"n", 1}});
    log_warning("c");
    log_error("d");
    set_log_level(LogLevel::info);
  }
  EXPECT_THAT(lines_of(path), testing::ElementsAre("<7>a", "<6>b n=1", "<4>c", "<3>d"));
  std::remove(path.c_str());
}

std::string all_of(int stream) {
  std::string text;
  char part[8192];
  for (ssize_t size = 0; (size = ::recv(stream, part, sizeof part, MSG_DONTWAIT)) > 0;) {
    text.append(part, static_cast<size_t>(size));
  }
  return text;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Again: who waited would wait until the test's end. Lines so long that it takes a part of one.
TEST(JournalStream, WaitsForNoJournalThatHangsAndTellsOfTheLinesLater) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  DroppedLines dropped;
  JournalStream stream(dropped, ends[1]);
  const std::string word(150'000, 'x');
  constexpr size_t kSent = 100;
  for (size_t i = 0; i < kSent; ++i) stream.send(fmt::format("<6>{} {}\n", i, word));
  std::string text = all_of(ends[0]);
  EXPECT_FALSE(text.ends_with('\n'));
  EXPECT_EQ(stream.send("<6>again\n"), Taken::yes);
  EXPECT_EQ(stream.send("<6>then\n"), Taken::yes);
  text += all_of(ends[0]);
  ::close(ends[0]);
  ::close(ends[1]);
  const std::vector<std::string> lines = lines_in(text);
  ASSERT_GT(lines.size(), 3u);
  ASSERT_LT(lines.size(), kSent);
  const size_t taken = lines.size() - 3;
  for (size_t i = 0; i < taken; ++i) EXPECT_EQ(lines[i], fmt::format("<6>{} {}", i, word));
  EXPECT_EQ(lines[taken], fmt::format("<4>log_lines_dropped lines={}", kSent - taken));
  EXPECT_EQ(lines[taken + 1], "<6>again");
  EXPECT_EQ(lines[taken + 2], "<6>then");
}

TEST(Log, WaitsForNoJournalThatHangs) {
  if (::access(kJournalSocket, W_OK) == 0) GTEST_SKIP() << "lines go to the journal that is here";
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  std::string text;
  {
    const Journal journal(ends[1]);
    ASSERT_TRUE(set_log_file("").is_ok());
    for (int i = 0; i < 10'000; ++i) log_info("tick", {{"n", i}});
    text = all_of(ends[0]);
    log_info("again");
    text += all_of(ends[0]);
  }
  ::close(ends[0]);
  const std::vector<std::string> lines = lines_in(text);
  ASSERT_GT(lines.size(), 2u);
  EXPECT_EQ(lines.front(), "<6>tick n=0");
  EXPECT_EQ(lines[lines.size() - 2],
            fmt::format("<4>log_lines_dropped lines={}", 10'002 - lines.size()));
  EXPECT_EQ(lines.back(), "<6>again");
}

TEST(Log, IsWholeWhereStderrIsNotTheJournalThatTheParentHad) {
  const std::string path = testing::TempDir() + "log_test_plain.log";
  {
    const Journal journal(path);
    ::setenv("JOURNAL_STREAM", "1:2", 1);
    ASSERT_TRUE(set_log_file("").is_ok());
    log_info("a");
  }
  ASSERT_EQ(lines_of(path).size(), 1u);
  EXPECT_THAT(lines_of(path).front(), testing::EndsWith("Z info a"));
  std::remove(path.c_str());
}

TEST(Log, ReportsAFileItCannotOpen) {
  const std::string directory = testing::TempDir();
  EXPECT_EQ(set_log_file(directory + "/.").code(), Code::unavailable);
}

}  // namespace
}  // namespace hai
