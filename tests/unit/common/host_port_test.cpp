#include "common/host_port.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(HostPort, AnIpv4AddressOnASocketOfIpv6IsThatOfIpv4) {
  for (const char* address : {"192.0.2.1", "::ffff:192.0.2.1", "[::ffff:192.0.2.1]"}) {
    EXPECT_EQ(plain_address(address), "192.0.2.1") << address;
    EXPECT_EQ(machine_of(address), "192.0.2.1") << address;
  }
  EXPECT_EQ(plain_address("[2001:db8::1]"), "2001:db8::1");
  EXPECT_EQ(plain_address("::ffff:1:2"), "::ffff:1:2") << "no IPv4 address";
  EXPECT_EQ(machine_of("[2001:db8:1:2:3::1]"), "2001:db8:1:2::");
}

TEST(HostPort, KnowsWhatIsEveryAddress) {
  for (const char* host : {"0.0.0.0", "::", "[::]", "*"}) EXPECT_TRUE(is_wildcard(host)) << host;
  for (const char* host : {"", "127.0.0.1", "::1", "10.0.0.0"}) {
    EXPECT_FALSE(is_wildcard(host)) << host;
  }
}

}  // namespace
}  // namespace hai
