#include "agent/health/kernel_log.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

std::vector<std::string> texts_of(Result<KernelLog::News> news) {
  std::vector<std::string> texts;
  EXPECT_TRUE(news.is_ok()) << news.status().message();
  if (!news.is_ok()) return texts;
  for (const KernelRecord& record : news.value().records) texts.push_back(record.text);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(KernelLogFile, gives_each_line_once_and_a_torn_one_when_it_is_whole) {
  TempFolder folder;
  folder.write("kmsg", "6,1,1,-;one\n6,2,2,-;tw");
  KernelLog log(folder.path("kmsg"));
  EXPECT_EQ(texts_of(log.read_new()), Texts{"one"});
  EXPECT_EQ(texts_of(log.read_new()), Texts{});
  folder.append("kmsg", "o\n KEY=value\n6,3,3,-;three\n");
  EXPECT_EQ(texts_of(log.read_new()), (Texts{"two", "three"}));
}

TEST(KernelLogFile, begins_anew_when_the_file_is_cut_or_replaced) {
  TempFolder folder;
  folder.write("kmsg", "one\ntwo\n");
  KernelLog log(folder.path("kmsg"));
  EXPECT_EQ(texts_of(log.read_new()), (Texts{"one", "two"}));
  folder.write("kmsg", "new\n");
  EXPECT_EQ(texts_of(log.read_new()), Texts{"new"});
  folder.write("other", "much longer than what was there before\n");
  std::filesystem::rename(folder.path("other"), folder.path("kmsg"));
  EXPECT_EQ(texts_of(log.read_new()), Texts{"much longer than what was there before"});
}

TEST(KernelLogFile, a_file_that_is_not_there_yet_is_an_error_and_then_read) {
  TempFolder folder;
  KernelLog log(folder.path("kmsg"));
  EXPECT_EQ(log.read_new().status().code(), Code::unavailable);
  folder.write("kmsg", "one\n");
  EXPECT_EQ(texts_of(log.read_new()), Texts{"one"});
}

TEST(KernelLogFile, is_bounded_per_call_and_goes_on) {
  TempFolder folder;
  std::string text;
  for (size_t i = 0; i < KernelLog::kRecordsMax + 10; ++i) text += "line\n";
  folder.write("kmsg", text);
  KernelLog log(folder.path("kmsg"));
  Result<KernelLog::News> news = log.read_new();
  EXPECT_TRUE(news.value().is_more);
  EXPECT_EQ(texts_of(std::move(news)).size(), KernelLog::kRecordsMax);
  EXPECT_EQ(texts_of(log.read_new()).size(), 10u);
}

TEST(KernelLogFile, a_fifo_without_a_writer_does_not_hang_it) {
  TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("kmsg").c_str(), 0600), 0);
  KernelLog log(folder.path("kmsg"));
  EXPECT_TRUE(log.read_new().is_ok());
}

// A character device stands for /dev/kmsg; what it gives is the test's.
struct FakeDevice {
  std::vector<std::string> reads;  // a record, or "!" and an errno
  size_t next = 0;

  KernelLog::ReadCall call() {
    return [this](int, void* buffer, size_t size) -> ssize_t {
      const std::string read = next < reads.size() ? reads[next++] : "!EAGAIN";
      if (read.starts_with("!")) {
        errno = read == "!EPIPE" ? EPIPE : read == "!EINTR" ? EINTR : read == "!EIO" ? EIO : EAGAIN;
        return -1;
      }
      const size_t length = std::min(size, read.size());
      std::memcpy(buffer, read.data(), length);
      return static_cast<ssize_t>(length);
    };
  }
};

TEST(KernelLogDevice, goes_on_after_records_were_overwritten) {
  FakeDevice device{.reads = {"6,1,1,-;one\n", "!EPIPE", "!EINTR", "6,9,9,-;nine\n A=b\n"}};
  KernelLog log("/dev/null", device.call());
  const Result<KernelLog::News> news = log.read_new();
  EXPECT_EQ(news.value().overruns, 1);
  EXPECT_EQ(texts_of(news), (Texts{"one", "nine"}));
}

TEST(KernelLogDevice, opens_anew_after_an_error) {
  FakeDevice device{.reads = {"!EIO", "6,1,1,-;one\n"}};
  KernelLog log("/dev/null", device.call());
  EXPECT_EQ(log.read_new().status().code(), Code::unavailable);
  EXPECT_EQ(texts_of(log.read_new()), Texts{"one"});
}

}  // namespace
}  // namespace hai
