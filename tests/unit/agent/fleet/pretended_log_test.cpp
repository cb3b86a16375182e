#include "agent/fleet/pretended_log.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace hai {
namespace {

LogRequest from(int64_t offset, int64_t max_bytes = 1'000) {
  return {.offset = offset, .max_bytes = max_bytes};
}
constexpr auto kLine = [](int second) { return fmt::format("second {:>10}\n", second); };

TEST(PretendedLog, HasALineASecond) {
  EXPECT_EQ(read_pretended_log(from(0), 0s, false).data, kLine(0));
  EXPECT_EQ(read_pretended_log(from(0), 999ms, false).data, kLine(0));
  EXPECT_EQ(read_pretended_log(from(0), 2s, false).data, kLine(0) + kLine(1) + kLine(2));
}

TEST(PretendedLog, ReadInPiecesIsTheSame) {
  const std::string whole = read_pretended_log(from(0), 20s, true).data;
  for (const int64_t piece : {1, 7, 18, 100}) {
    std::string read;
    LogChunk chunk;
    while (!chunk.end) {
      chunk = read_pretended_log(from(chunk.next_offset, piece), 20s, true);
      ASSERT_EQ(chunk.offset, static_cast<int64_t>(read.size()));
      read += chunk.data;
    }
    EXPECT_EQ(read, whole) << piece;
  }
}

TEST(PretendedLog, EndsWhenItsRankHasEnded) {
  EXPECT_FALSE(read_pretended_log(from(18), 0s, false).end);
  EXPECT_TRUE(read_pretended_log(from(18), 0s, true).end);
  EXPECT_FALSE(read_pretended_log(from(0, 5), 0s, true).end) << "there is more to read";
  EXPECT_TRUE(read_pretended_log(from(1'000'000), 0s, true).end);
}

TEST(PretendedLog, ATailBeginsWithALine) {
  LogRequest request = from(0);
  request.tail_bytes = 40;
  const LogChunk chunk = read_pretended_log(request, 9s, false);
  EXPECT_EQ(chunk.data, kLine(8) + kLine(9));
  EXPECT_EQ(chunk.offset, 8 * 18);
}

}  // namespace
}  // namespace hai
