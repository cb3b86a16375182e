#include "server/store/line_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hai {
namespace {

class LineFileTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = testing::TempDir() + "hai-lines-" + std::to_string(getpid());
    std::filesystem::create_directory(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::string path(const char* name) const { return dir_ + "/" + name; }
  static void write(const std::string& path, const std::vector<std::string>& lines) {
    auto writer = LineWriter::create(path);
    ASSERT_TRUE(writer.is_ok()) << writer.status().message();
    for (const std::string& line : lines) ASSERT_TRUE(writer.value()->write(line).is_ok());
    ASSERT_TRUE(writer.value()->finish().is_ok());
  }
  static Status read(const std::string& path, std::vector<std::string>& lines) {
    auto reader = LineReader::open(path);
    if (!reader.is_ok()) return reader.status();
    std::string_view line;
    while (true) {
      const Result<bool> got = reader.value()->next(line);
      if (!got.is_ok()) return got.status();
      if (!got.value()) return ok();
      lines.emplace_back(line);
      EXPECT_EQ(reader.value()->line_number(), std::ssize(lines));
    }
  }

  std::string dir_;
};

// Lines on both sides of the reader's buffer, an empty one, one longer than the buffer.
std::vector<std::string> many_lines() {
  std::vector<std::string> lines{"first", "", std::string(1'000'000, 'x')};
  for (int i = 0; i < 50'000; ++i) lines.push_back("line " + std::to_string(i));
  return lines;
}

TEST_F(LineFileTest, IsReadBack) {
  for (const char* name : {"plain.jsonl", "small.jsonl.gz", "part.jsonl.gz.partial"}) {
    write(path(name), many_lines());
    std::vector<std::string> lines;
    ASSERT_TRUE(read(path(name), lines).is_ok());
    EXPECT_EQ(lines, many_lines()) << name;
  }
  EXPECT_LT(std::filesystem::file_size(path("small.jsonl.gz")),
            std::filesystem::file_size(path("plain.jsonl")) / 4);
  EXPECT_EQ(std::filesystem::file_size(path("small.jsonl.gz")),
            std::filesystem::file_size(path("part.jsonl.gz.partial")));
}

TEST_F(LineFileTest, ReadsALastLineWithoutItsEnd) {
  std::ofstream(path("file")) << "one\ntwo";
  std::vector<std::string> lines;
  ASSERT_TRUE(read(path("file"), lines).is_ok());
  EXPECT_THAT(lines, testing::ElementsAre("one", "two"));
}

TEST_F(LineFileTest, AnEmptyFileHasNoLines) {
  write(path("none.gz"), {});
  std::vector<std::string> lines;
  ASSERT_TRUE(read(path("none.gz"), lines).is_ok());
  EXPECT_THAT(lines, testing::IsEmpty());
}

TEST_F(LineFileTest, NoticesThatAFileWasCutOff) {
  write(path("cut.gz"), many_lines());
  std::filesystem::resize_file(path("cut.gz"), std::filesystem::file_size(path("cut.gz")) / 2);
  std::vector<std::string> lines;
  EXPECT_EQ(read(path("cut.gz"), lines).code(), Code::data_loss);
}

TEST_F(LineFileTest, ReplacesNoFileUnasked) {
  write(path("file"), {"one"});
  EXPECT_FALSE(LineWriter::create(path("file")).is_ok());
  EXPECT_TRUE(LineWriter::create(path("file"), /*replace=*/true).is_ok());
  EXPECT_FALSE(LineWriter::create(path("no/such/folder")).is_ok());
  EXPECT_FALSE(LineReader::open(path("nothing")).is_ok());
}

}  // namespace
}  // namespace hai
