#include "server/store/audit_line.h"

#include <gtest/gtest.h>

#include <utility>

namespace hai {
namespace {

AuditRow row() {
  return {.seq = 7,
          .entry = {.at = unix_micros(1'800'000'000'123'456),
                    .user = "ann",
                    .token = "0123456789ab",
                    .address = "[2001:db8::1] or 10.0.0.7",
                    .call = "ControlJob",
                    .target = "job/1, job/2",
                    .result = "ok",
                    .detail = "stop: naïve; \"quotes\", \\, \n and {braces}"},
          .hash = std::string(64, 'a')};
}

TEST(AuditLine, ComesBackAsItWas) {
  const std::string line = audit_line(row());
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Result<AuditRow> read = audit_row_from_line(line);
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_EQ(read.value().seq, row().seq);
  EXPECT_EQ(read.value().entry, row().entry);
  EXPECT_EQ(read.value().hash, row().hash);
}

TEST(AuditLine, IsReadWithMembersOfALaterVersion) {
  std::string line = audit_line(row());
  line.insert(1, "\"server\":{\"name\":\"s1\"},");
  EXPECT_TRUE(audit_row_from_line(line).is_ok());
}

// As a file that was cut off or is another one has them.
TEST(AuditLine, WhatIsNoneIsRefused) {
  const std::string line = audit_line(row());
  for (size_t size = 0; size < line.size(); ++size) {
    EXPECT_FALSE(audit_row_from_line(line.substr(0, size)).is_ok()) << size;
  }
  for (const char* other :
       {"[]", "{}", "7", R"({"seq":1,"time":"2026-01-01T00:00:00.000000Z","actor":"ann"})"}) {
    EXPECT_FALSE(audit_row_from_line(other).is_ok()) << other;
  }
  for (const auto& [from, to] : {std::pair("\"seq\":7", "\"seq\":0"),
                                 {"\"seq\":7", "\"seq\":\"7\""},
                                 {"\"at\":\"", "\"at\":\"x"},
                                 {"\"user\":\"ann\"", "\"user\":17"},
                                 {"\"hash\":", "\"hush\":"}}) {
    std::string changed = line;
    changed.replace(changed.find(from), std::string_view(from).size(), to);
    EXPECT_FALSE(audit_row_from_line(changed).is_ok()) << changed;
  }
}

}  // namespace
}  // namespace hai
