#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/os/log_janitor.h"
#include "agent/os/log_reader.h"
#include "agent/os/log_spool.h"

namespace hai {
namespace {

constexpr size_t kPrefixBytes = sizeof("2026-11-20T08:00:00.123Z ") - 1;
const UnixTime kNow = unix_micros(1'795'161'600'123'000);

class LogTest : public testing::Test {
 protected:
  LogTest() {
    std::string path = testing::TempDir() + "/hai-log-XXXXXX";
    directory_ = ::mkdtemp(path.data());
  }
  ~LogTest() override { std::filesystem::remove_all(directory_); }

  std::string read_all() { return read_log(directory_, 0, 1 << 30).value().bytes; }

  std::string directory_;
  LogSpool::Source source_;
};

TEST_F(LogTest, PutsTheTimeBeforeEachLine) {
  LogSpool spool = LogSpool::open(directory_, {}).value();
  spool.append(source_, "one\ntw", kNow);
  spool.append(source_, "o\n\nlast", kNow + 1s);
  EXPECT_EQ(
      read_all(),
      "2026-11-20T08:00:00.123Z one\n2026-11-20T08:00:01.123Z two\n2026-11-20T08:00:01.123Z \n");
  spool.finish(source_, kNow + 2s);
  EXPECT_THAT(read_all(), testing::EndsWith("2026-11-20T08:00:02.123Z last\n"));
  EXPECT_EQ(spool.end_offset(), static_cast<int64_t>(read_all().size()));
}

TEST_F(LogTest, KeepsLinesOfSourcesApart) {
  LogSpool spool = LogSpool::open(directory_, {}).value();
  LogSpool::Source other;
  spool.append(source_, "aa", kNow);
  spool.append(other, "bb\n", kNow);
  spool.append(source_, "AA\n", kNow);
  EXPECT_THAT(read_all(), testing::MatchesRegex("[^ ]* bb\n[^ ]* aaAA\n"));
}

TEST_F(LogTest, CutsLongLinesWithoutLosingAByte) {
  LogSpool spool = LogSpool::open(directory_, {}).value();
  std::string text;
  for (int i = 0; text.size() < 3 * kLogLineBytesMax + 100; ++i) text += std::to_string(i) + ",";
  for (size_t at = 0; at < text.size(); at += 777)
    spool.append(source_, text.substr(at, 777), kNow);
  spool.append(source_, "\n", kNow);
  std::istringstream lines(read_all());
  std::string joined;
  for (std::string line; std::getline(lines, line);) {
    ASSERT_LE(line.size(), kPrefixBytes + kLogLineBytesMax);
    joined += line.substr(kPrefixBytes);
  }
  EXPECT_EQ(joined, text);
}

TEST_F(LogTest, RotatesAndKeepsOffsets) {
  LogSpool spool =
      LogSpool::open(directory_, {.total_bytes_max = 4000, .file_bytes_max = 1000}).value();
  std::string whole;
  for (int i = 0; i < 500; ++i) {
    const std::string line = "line " + std::to_string(i);
    spool.append(source_, line + "\n", kNow);
    whole += format_rfc3339(kNow) + " " + line + "\n";
  }
  const std::vector<int64_t> files = list_log_files(directory_);
  EXPECT_GT(files.front(), 0);
  EXPECT_LE(files.size(), 5u);
  const LogPart part = read_log(directory_, 0, 1 << 30).value();
  EXPECT_EQ(part.offset, files.front());
  EXPECT_EQ(part.first_available_offset, files.front());
  EXPECT_EQ(part.end_offset, static_cast<int64_t>(whole.size()));
  EXPECT_EQ(part.bytes, whole.substr(static_cast<size_t>(part.offset)));
  int64_t total = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    total += static_cast<int64_t>(entry.file_size());
  EXPECT_LE(total, 4000);
}

TEST_F(LogTest, ReadsInPiecesOfAnySize) {
  LogSpool spool =
      LogSpool::open(directory_, {.total_bytes_max = 1 << 20, .file_bytes_max = 300}).value();
  for (int i = 0; i < 100; ++i) spool.append(source_, "line " + std::to_string(i) + "\n", kNow);
  const std::string whole = read_all();
  for (const int64_t piece : {1, 7, 64, 299, 1000}) {
    std::string joined;
    int64_t offset = 0;
    while (true) {
      const LogPart part = read_log(directory_, offset, piece).value();
      EXPECT_EQ(part.offset, offset);
      if (part.bytes.empty()) break;
      joined += part.bytes;
      offset = part.next_offset;
    }
    EXPECT_EQ(joined, whole) << piece;
  }
  EXPECT_EQ(read_log(directory_, 1 << 30, 10).value().next_offset,
            static_cast<int64_t>(whole.size()));
}

TEST_F(LogTest, TailStartsAtALine) {
  LogSpool spool = LogSpool::open(directory_, {}).value();
  for (int i = 0; i < 100; ++i) spool.append(source_, "line " + std::to_string(i) + "\n", kNow);
  const std::string whole = read_all();
  for (const int64_t tail : {int64_t{0}, int64_t{1}, int64_t{40}, int64_t{500}, int64_t{1} << 30}) {
    const int64_t start = log_tail_offset(directory_, tail).value();
    EXPECT_LE(static_cast<int64_t>(whole.size()) - start, tail);
    EXPECT_TRUE(start == 0 || whole[static_cast<size_t>(start) - 1] == '\n') << tail;
  }
  const int64_t line_bytes = static_cast<int64_t>(kPrefixBytes) + 8;  // "line 99\n"
  EXPECT_EQ(log_tail_offset(directory_, line_bytes).value(),
            static_cast<int64_t>(whole.size()) - line_bytes);
}

TEST_F(LogTest, ContinuesWhatIsThere) {
  {
    LogSpool spool = LogSpool::open(directory_, {}).value();
    spool.append(source_, "one\n", kNow);
  }
  LogSpool spool = LogSpool::open(directory_, {}).value();
  spool.append(source_, "two\n", kNow);
  EXPECT_THAT(read_all(), testing::MatchesRegex("[^ ]* one\n[^ ]* two\n"));
}

TEST_F(LogTest, NoLogIsNotFound) {
  EXPECT_EQ(read_log(directory_, 0, 10).status().code(), Code::not_found);
  EXPECT_EQ(read_log("/nonexistent", 0, 10).status().code(), Code::not_found);
}

TEST_F(LogTest, JanitorDeletesTheOldestButNoneInUse) {
  for (int job = 1; job <= 5; ++job) {
    const std::string path = directory_ + "/" + std::to_string(job) + ".1.0";
    std::filesystem::create_directory(path);
    std::ofstream(path + "/" + log_file_name(0)) << std::string(1000, 'x');
    const auto age = std::chrono::hours(10 - job);
    std::filesystem::last_write_time(path + "/" + log_file_name(0),
                                     std::filesystem::file_time_type::clock::now() - age);
  }
  std::filesystem::create_directory(directory_ + "/unrelated");
  const std::set<RankKey> in_use = {{.job = {1}, .attempt = 1, .rank = 0}};
  EXPECT_EQ(delete_old_logs(directory_, in_use, {.bytes_max = 3500, .count_max = 100}), 2);
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/1.1.0"));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/2.1.0"));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/3.1.0"));
  EXPECT_EQ(delete_old_logs(directory_, in_use, {.bytes_max = 1 << 30, .count_max = 1}), 2);
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/unrelated"));
}

}  // namespace
}  // namespace hai
