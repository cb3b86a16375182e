#include "server/http/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace hai {
namespace {

std::string gunzip(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string text(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST(Gzip, GivesTheSameTextBack) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i);
  for (const std::string& each : {std::string(), std::string("a"), text}) {
    EXPECT_EQ(gunzip(gzip(each, 1)), each);
    EXPECT_EQ(gunzip(gzip(each, 9)), each);
  }
  EXPECT_LT(gzip(text, 9).size(), text.size() / 2);
}

TEST(Gzip, WhoTakesIt) {
  for (const char* yes : {"gzip", "gzip, br", "br;q=1.0, gzip;q=0.8", "*", "deflate , gzip"}) {
    EXPECT_TRUE(accepts_gzip(yes)) << yes;
  }
  for (const char* no : {"", "br", "identity", "gzip;q=0", "gzip; q=0.00", "xgzip", "*;q=0"}) {
    EXPECT_FALSE(accepts_gzip(no)) << no;
  }
}

}  // namespace
}  // namespace hai
