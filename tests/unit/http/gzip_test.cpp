#include "server/http/gzip.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace hai
