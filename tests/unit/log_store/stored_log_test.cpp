#include "common/gzip/gzip.h"
#include "tests/unit/log_store/store_fixture.h"

namespace hai {
namespace {

TEST_F(StoreTest, ReadsWhatWasAppendedByOffset) {
  StoredLogWriter log = writer(key_);
  ASSERT_TRUE(log.append(store(), 0, "one\n").is_ok());
  ASSERT_TRUE(log.append(store(), 0, "two\n").is_ok());
  ASSERT_TRUE(log.append(store(), 8, "three\n").is_ok());
  EXPECT_EQ(log.end_offset(), 14);
  const StoredLogPart all = read(key_, -1).value();
  EXPECT_EQ(all.part.bytes, "one\ntwo\nthree\n");
  EXPECT_EQ(all.part.end_offset, 14);
  EXPECT_FALSE(all.is_whole);
  EXPECT_EQ(read(key_, 5, 4).value().part.bytes, "wo\nt");
  EXPECT_EQ(read(key_, 5, 4).value().part.next_offset, 9);
  EXPECT_EQ(read(key_, 14).value().part.bytes, "");
  EXPECT_EQ(read(key_, 99).value().part.next_offset, 14);

  ASSERT_TRUE(log.finish(store(), unix_micros(5)).is_ok());
  EXPECT_TRUE(read(key_, 0).value().is_whole);
}

TEST_F(StoreTest, SeesWhatComesWhileItReads) {
  StoredLogWriter log = writer(key_);
  std::string all;
  for (int i = 0; i < 50; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    ASSERT_TRUE(log.append(store(), 0, line).is_ok());
    const LogPart part = read(key_, static_cast<int64_t>(all.size())).value().part;
    EXPECT_EQ(part.bytes, line);
    all += line;
  }
  EXPECT_EQ(read(key_, 0).value().part.bytes, all);
}

TEST_F(StoreTest, ATailBeginsAtALine) {
  StoredLogWriter log = writer(key_);
  ASSERT_TRUE(log.append(store(), 0, "first line\nsecond ").is_ok());
  ASSERT_TRUE(log.append(store(), 18, "line\nthird\n").is_ok());
  const auto tail = [&](int64_t bytes) {
    return reader_
        .read(store(), {.key = key_, .user = "ann", .max_bytes = 1 << 20, .tail_bytes = bytes})
        .value()
        .part.bytes;
  };
  EXPECT_EQ(tail(6), "third\n");
  EXPECT_EQ(tail(10), "third\n");
  EXPECT_EQ(tail(18), "second line\nthird\n");
  EXPECT_EQ(tail(1000), "first line\nsecond line\nthird\n");
}

TEST_F(StoreTest, WhatWasRotatedAwayIsAJumpInOffsets) {
  StoredLogWriter log = writer(key_);
  ASSERT_TRUE(log.append(store(), 100, "old\n").is_ok());
  ASSERT_TRUE(log.append(store(), 200, "new\n").is_ok());
  const LogPart first = read(key_, 0).value().part;
  EXPECT_EQ(std::tuple(first.offset, first.bytes, first.next_offset),
            std::tuple(100, "old\n", 104));
  const LogPart second = read(key_, first.next_offset).value().part;
  EXPECT_EQ(std::tuple(second.offset, second.bytes), std::tuple(200, "new\n"));
}

TEST_F(StoreTest, ANewAgentGoesOnWhereTheLastOneWasCutOff) {
  ASSERT_TRUE(writer(key_).append(store(), 0, "whole\n").is_ok());
  const std::string chunk = path_of(key_) + "/" + chunk_name(0);
  const std::string whole = content(chunk);
  put(chunk, whole + gzip("cut off in the middle\n", 6).substr(0, 20));
  EXPECT_EQ(read(key_, 0).value().part.bytes.substr(0, 6), "whole\n");

  StoredLogWriter log = writer(key_);
  EXPECT_EQ(log.chunk_start(), 0);
  EXPECT_EQ(log.end_offset(), 6);
  EXPECT_EQ(content(chunk), whole);
  ASSERT_TRUE(log.append(store(), 0, "and on\n").is_ok());
  EXPECT_EQ(read(key_, 0).value().part.bytes, "whole\nand on\n");
}

TEST_F(StoreTest, WritesNothingAtTheWrongPlace) {
  StoredLogWriter log = writer(key_);
  ASSERT_TRUE(log.append(store(), 0, "one\n").is_ok());
  ASSERT_TRUE(writer(key_).append(store(), 0, "of somebody else\n").is_ok());
  EXPECT_EQ(log.append(store(), 0, "two\n").code(), Code::aborted);
  EXPECT_EQ(read(key_, 0).value().part.bytes, "one\nof somebody else\n");
  // The sweep has deleted it: it begins again, and not in the middle of a chunk.
  ASSERT_TRUE(store().remove_rank(key_).is_ok());
  EXPECT_EQ(log.append(store(), 0, "two\n").code(), Code::aborted);
  EXPECT_EQ(writer(key_).chunk_start(), -1);
}

TEST_F(StoreTest, ShowsNobodyTheLogOfAnotherUserWithTheSameNumber) {
  ASSERT_TRUE(writer(key_, "bob").append(store(), 0, "of bob\n").is_ok());
  EXPECT_EQ(read(key_, 0).status().code(), Code::not_found);
  // A new database, the same job number: ann's log takes its place.
  ASSERT_TRUE(writer(key_, "ann").append(store(), 0, "of ann\n").is_ok());
  EXPECT_EQ(read(key_, 0).value().part.bytes, "of ann\n");
}

TEST_F(StoreTest, WithoutARecordNobodySeesTheLog) {
  ASSERT_TRUE(writer(key_).append(store(), 0, "text\n").is_ok());
  for (const char* record : {"", "{", "[]", "{}", R"({"user":7})", R"({"user":""})"}) {
    put(path_of(key_) + "/rank.json", record);
    EXPECT_FALSE(read(key_, 0).is_ok()) << record;
  }
  EXPECT_EQ(read({.job = JobId{5}, .attempt = 1, .rank = 0}, 0).status().code(), Code::not_found);
}

TEST_F(StoreTest, DropsTheOldestChunksOfALongLog) {
  StoredLogWriter log = writer(key_);
  std::string random;
  for (uint32_t i = 0, x = 1; i < 1000; ++i) random += static_cast<char>((x = x * 69069 + 1) >> 24);
  for (int64_t start : {0, 1000, 2000}) {
    ASSERT_TRUE(log.append(store(), start, random).is_ok());
  }
  ASSERT_TRUE(log.drop_oldest(store(), 2500).is_ok());
  EXPECT_EQ(read(key_, 0).value().part.offset, 1000);
  ASSERT_TRUE(log.drop_oldest(store(), 1).is_ok());
  EXPECT_EQ(read(key_, 0).value().part.offset, 2000) << "the last one stays";
  EXPECT_EQ(read(key_, 0).value().part.bytes, random);
}

TEST_F(StoreTest, RecordsSurviveOddNames) {
  const RankRecord record{.user = "a\"nn\\ \n", .node = "n1", .ended_at = unix_micros(1'000'001)};
  EXPECT_EQ(rank_record_from_json(rank_record_to_json(record)).value(), record);
}

}  // namespace
}  // namespace hai
