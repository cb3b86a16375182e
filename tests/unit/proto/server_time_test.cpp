#include "proto/convert/server_time.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

UnixTime at(int64_t seconds) { return unix_micros(seconds * 1'000'000); }

// The time of the call itself is nobody's mistake: only what is surely wrong is told.
TEST(ServerTime, TellsHowFarAClockIsSurelyApart) {
  EXPECT_EQ(clock_ahead(at(100), at(103), at(100)), Duration(0));
  EXPECT_EQ(clock_ahead(at(100), at(103), at(102)), Duration(0));
  EXPECT_EQ(clock_ahead(at(100), at(103), at(103)), Duration(0));
  EXPECT_EQ(clock_ahead(at(100), at(103), at(40)), Duration(60s));
  EXPECT_EQ(clock_ahead(at(100), at(103), at(3703)), Duration(-3600s));
}

}  // namespace
}  // namespace hai
