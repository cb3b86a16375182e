// A node's logs on their way to the log store: a spool as shims write it, a store in a folder.

#include "agent/os/log_upload.h"

#include <gmock/gmock.h>

#include "agent/os/log_spool.h"
#include "agent/os/rank_directory.h"
#include "agent/os/upload_record.h"
#include "tests/unit/log_store/store_fixture.h"

namespace hai {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kPlenty = 1 << 30;
const UnixTime kUploadTime = unix_micros(1'795'161'600'000'000);

class UploadTest : public StoreTest {
 protected:
  UploadTest() { std::filesystem::create_directories(data_dir()); }

  std::string data_dir() const { return folder_ + "/node"; }
  LogUploadOptions options() const {
    return {.store = root_, .data_dir = data_dir(), .node = "n1", .every = 30s};
  }
  LogSpool spool(const RankKey& key, LogLimits limits = {}) {
    std::filesystem::create_directories(log_directory(data_dir(), key));
    return LogSpool::open(log_directory(data_dir(), key), limits).value();
  }
  void say(LogSpool& spool, const std::string& text) { spool.append(source_, text, kUploadTime); }
  UploadResult pass(LogUpload& upload, bool is_live, Duration at, int64_t bytes = kPlenty) {
    return upload.pass({{key_, "ann", is_live}}, bytes, MonoTime{} + at, kUploadTime);
  }
  std::string stored(const RankKey& key) {
    std::string text;
    for (int64_t offset = 0;;) {
      const auto part = read(key, offset);
      if (!part.is_ok() || part.value().part.bytes.empty()) return text;
      text += part.value().part.bytes;
      offset = part.value().part.next_offset;
    }
  }
  std::string written(const RankKey& key) const {
    std::string text;
    for (const int64_t start : list_log_files(log_directory(data_dir(), key))) {
      text += content(log_directory(data_dir(), key) + "/" + log_file_name(start));
    }
    return text;
  }

  LogSpool::Source source_;
};

TEST_F(UploadTest, ARunningRanksLogGoesNowAndThenAndTheRestAtItsEnd) {
  store();
  LogSpool log = spool(key_);
  LogUpload upload(options());
  say(log, "one\n");
  EXPECT_THAT(pass(upload, true, 100s).done, IsEmpty());
  const std::string first = written(key_);
  EXPECT_EQ(stored(key_), first);
  say(log, "two\n");
  pass(upload, true, 110s);
  EXPECT_EQ(stored(key_), first) << "it is not due yet";
  pass(upload, true, 130s);
  EXPECT_EQ(stored(key_), written(key_));
  say(log, "three\n");
  EXPECT_THAT(pass(upload, false, 131s).done, ElementsAre(key_)) << "the end waits for nothing";
  EXPECT_EQ(stored(key_), written(key_));
  EXPECT_TRUE(read(key_, 0).value().is_whole);
}

TEST_F(UploadTest, GoesOnWithTheNextFileAndOverWhatWasRotatedAway) {
  store();
  LogSpool log = spool(key_, {.total_bytes_max = 4000, .file_bytes_max = 1000});
  LogUpload upload(options());
  std::string all;
  for (int i = 0; i < 20; ++i) {
    say(log, std::string(200, 'x') + std::to_string(i) + "\n");
    pass(upload, true, 100s + i * 30s);
  }
  pass(upload, false, 1000s);
  const LogPart whole = read(key_, 0, 1 << 20).value().part;
  EXPECT_EQ(whole.offset, 0) << "the store has what the node has deleted";
  EXPECT_EQ(whole.bytes.size(), static_cast<size_t>(log.end_offset()));
  EXPECT_TRUE(whole.bytes.ends_with(written(key_)));

  // Another rank is looked at only after its oldest files went.
  const RankKey late{.job = JobId{9}, .attempt = 1, .rank = 0};
  LogSpool other = spool(late, {.total_bytes_max = 4000, .file_bytes_max = 1000});
  for (int i = 0; i < 40; ++i) say(other, std::string(200, 'y') + "\n");
  upload.pass({{late, "ann", false}}, kPlenty, MonoTime{} + 2000s, kUploadTime);
  EXPECT_GT(read(late, 0).value().part.offset, 0);
  EXPECT_EQ(stored(late), written(late));
}

TEST_F(UploadTest, ANewAgentGoesOnWithoutLosingOrDoublingALine) {
  store();
  LogSpool log = spool(key_);
  say(log, "one\n");
  {
    LogUpload upload(options());
    pass(upload, true, 100s);
  }
  say(log, "two\n");
  LogUpload upload(options());
  pass(upload, true, 1s);
  EXPECT_EQ(stored(key_), written(key_));
  // The sweep of a server has deleted all: what the node still has comes back, from its beginning.
  ASSERT_TRUE(store().remove_rank(key_).is_ok());
  say(log, "three\n");
  EXPECT_EQ(pass(upload, false, 40s).status.code(), Code::aborted);
  EXPECT_THAT(pass(upload, false, 41s).done, ElementsAre(key_));
  EXPECT_EQ(stored(key_), written(key_));
}

TEST_F(UploadTest, SendsNoMoreThanItMayAndServesAllInTurn) {
  store();
  std::vector<RankToUpload> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    const RankKey key{.job = JobId{1}, .attempt = 1, .rank = rank};
    LogSpool log = spool(key);
    for (int i = 0; i < 100; ++i) say(log, std::string(100, 'z') + "\n");
    ranks.push_back({key, "ann", true});
  }
  LogUpload upload(options());
  for (int second = 0; second < 13; ++second) {
    const UploadResult result =
        upload.pass(ranks, 3000, MonoTime{} + 100s + second * 1s, kUploadTime);
    EXPECT_LE(result.bytes, 3000);
    EXPECT_EQ(result.is_all, second >= 12) << second;
  }
  for (const RankToUpload& rank : ranks) EXPECT_EQ(stored(rank.key), written(rank.key));
}

TEST_F(UploadTest, AStoreThatIsAwayIsSaidAndCaughtUpWith) {
  LogSpool log = spool(key_);
  say(log, "one\n");
  LogUpload upload(options());
  const UploadResult away = pass(upload, false, 100s);
  EXPECT_TRUE(away.has_looked);
  EXPECT_EQ(away.status.code(), Code::failed_precondition);
  EXPECT_THAT(away.done, IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(root_)) << "nothing is put below a bare mount point";
  store();
  EXPECT_THAT(pass(upload, false, 101s).done, ElementsAre(key_));
  EXPECT_EQ(stored(key_), written(key_));
  // Looked at even if nobody needs it.
  std::filesystem::remove_all(root_);
  EXPECT_FALSE(upload.pass({}, kPlenty, MonoTime{} + 110s, kUploadTime).has_looked);
  EXPECT_FALSE(upload.pass({}, kPlenty, MonoTime{} + 161s, kUploadTime).status.is_ok());
}

TEST_F(UploadTest, ARankThatWritesFasterThanItIsBroughtKeepsWithinItsShare) {
  store();
  LogUploadOptions small = options();
  small.rank_bytes = 1;
  LogSpool log = spool(key_, {.total_bytes_max = 1 << 20, .file_bytes_max = 1000});
  LogUpload upload(small);
  for (int i = 0; i < 60; ++i) say(log, std::string(90, 'x') + std::to_string(i) + "\n");
  for (int second = 0; second < 20; ++second) {
    EXPECT_FALSE(pass(upload, true, 100s + second * 1s, 150).is_all);
  }
  EXPECT_GT(read(key_, 0).value().part.offset, 0) << "the oldest chunks have gone";
}

TEST_F(UploadTest, AnEndedRankWhoseLogIsGoneIsGivenUpAndNotCalledWhole) {
  store();
  LogSpool log = spool(key_);
  say(log, "one\n");
  LogUpload upload(options());
  pass(upload, true, 100s);
  std::filesystem::remove_all(log_directory(data_dir(), key_));
  EXPECT_THAT(pass(upload, false, 200s).done, ElementsAre(key_));
  EXPECT_FALSE(read(key_, 0).value().is_whole);
}

TEST_F(UploadTest, ALogOfAnotherUserUnderTheSameKeyIsNotGoneOnWith) {
  store();
  LogSpool log = spool(key_);
  say(log, "ann's\n");
  LogUpload upload(options());
  pass(upload, true, 100s);
  std::filesystem::remove_all(log_directory(data_dir(), key_));
  LogSpool next = spool(key_);
  say(next, "bob's\n");
  upload.pass({{key_, "bob", true}}, kPlenty, MonoTime{} + 200s, kNow);
  EXPECT_EQ(content(path_of(key_) + "/rank.json").find("ann"), std::string::npos);
}

TEST_F(UploadTest, ALinkInPlaceOfALogIsNotRead) {
  store();
  put(folder_ + "/shadow", "root's secret\n");
  std::filesystem::create_directories(log_directory(data_dir(), key_));
  std::filesystem::create_symlink(folder_ + "/shadow",
                                  log_directory(data_dir(), key_) + "/" + log_file_name(0));
  LogUpload upload(options());
  pass(upload, false, 100s);
  EXPECT_EQ(stored(key_), "");
}

TEST_F(UploadTest, RecordsOutliveTheAgent) {
  ASSERT_TRUE(make_upload_records(data_dir()).is_ok());
  ASSERT_TRUE(keep_upload_record(data_dir(), key_, "ann").is_ok());
  ASSERT_TRUE(make_upload_records(data_dir()).is_ok());
  put(data_dir() + "/log_uploads/notes", "bob");
  EXPECT_THAT(list_upload_records(data_dir()), ElementsAre(testing::Pair(key_, "ann")));
  drop_upload_record(data_dir(), key_);
  EXPECT_THAT(list_upload_records(data_dir()), IsEmpty());
}

}  // namespace
}  // namespace hai
