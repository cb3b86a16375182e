#include "server/http/gzip.h"

#include <gtest/gtest.h>

#include "common/gzip/gzip.h"

namespace hai {
namespace {

TEST(AcceptsGzip, WhoTakesIt) {
  for (const char* yes : {"gzip", "gzip, br", "br;q=1.0, gzip;q=0.8", "*", "deflate , gzip"}) {
    EXPECT_TRUE(accepts_gzip(yes)) << yes;
  }
  for (const char* no : {"", "br", "identity", "gzip;q=0", "gzip; q=0.00", "xgzip", "*;q=0"}) {
    EXPECT_FALSE(accepts_gzip(no)) << no;
  }
}

TEST(Gzip, APieceThatCannotBeMadeCutsTheBodyOff) {
  const HttpChunk piece = gzip_piece("text", gzip);
  ASSERT_TRUE(piece);
  EXPECT_EQ(gunzip(*piece, 100).text, "text");
  const HttpChunk failed = gzip_piece("text", [](std::string_view, int) { return std::string(); });
  EXPECT_FALSE(failed);
  EXPECT_TRUE(failed.is_cut());
}

}  // namespace
}  // namespace hai
