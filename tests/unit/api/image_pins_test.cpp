// What who submits is told of a registry, with a skopeo that says what the real one says.

#include "server/api/image_pins.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "common/asio_loop.h"

namespace hai {
namespace {

using ::testing::HasSubstr;

// Messages of skopeo 1.9.3, by the port that it is asked for.
constexpr const char* kSkopeo = R"sh(#!/bin/sh
fail() { printf 'time="2026-11-28T11:17:18Z" level=fatal msg="%s"\n' "$1" >&2; exit 1; }
case "$*" in
*:1/*) fail 'pinging: dial tcp 127.0.0.1:1: connect: connection refused' ;;
*:2/*) fail 'pinging: dial tcp 127.0.0.1:2: connect: permission denied' ;;
*:22/*) fail 'pinging: tls: first record does not look like a TLS handshake' ;;
*:80/*) fail 'pinging: invalid status code from registry 404 (Not Found)' ;;
*:81/*) fail 'Error parsing manifest for image: invalid character <secret> looking for value' ;;
*:82/*) exit 0 ;;
*/none*) fail 'reading manifest latest in host/none: manifest unknown: manifest unknown' ;;
*/closed*) fail 'reading manifest latest in host/closed: unauthorized: authentication required' ;;
esac
echo sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
)sh";

class ImagePinsTest : public testing::Test {
 protected:
  ImagePinsTest() {
    std::string path = testing::TempDir() + "/hai-pins-XXXXXX";
    folder_ = ::mkdtemp(path.data());
    const std::string program = folder_ + "/skopeo";
    std::ofstream(program) << kSkopeo;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    ::setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
  }
  ~ImagePinsTest() override {
    ::setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  Result<std::string> pin(const std::string& image) {
    std::optional<Result<std::string>> got;
    loop_.post([&] {
      pins_.pin(image, "ann", [&](Result<std::string> pinned) {
        got = std::move(pinned);
        loop_.stop();
      });
    });
    loop_.run();
    return *got;
  }

  const std::string path_ = ::getenv("PATH");
  std::string folder_;
  AsioLoop loop_;
  ImagePins pins_{loop_, {}};
};

TEST_F(ImagePinsTest, AreTheDigestsOfTheRegistry) {
  EXPECT_EQ(pin("host.org/box:1").value(),
            "docker://host.org/box:1@sha256:" + std::string(64, 'a'));
  EXPECT_THAT(pin("host.org/none").status().message(),
              HasSubstr("host.org/none: manifest unknown, says"));
  EXPECT_THAT(pin("host.org/closed").status().message(),
              HasSubstr("unauthorized, says its registry"));
  const std::string pinned = "@sha256:" + std::string(64, 'b');
  EXPECT_EQ(pin("host.org/none" + pinned).status().code(), Code::not_found);
  EXPECT_EQ(pin("host:1/box" + pinned).value(), "docker://host:1/box" + pinned);
}

// By what it said of them one could tell closed ports from open ones, and what listens there.
TEST_F(ImagePinsTest, SaysTheSameOfWhateverIsNoRegistry) {
  for (const char* port : {"1", "2", "22", "80", "81", "82"}) {
    const std::string host = std::string("host:") + port;
    const Status refused = pin(host + "/a/b").status();
    EXPECT_EQ(refused.code(), Code::not_found) << host;
    EXPECT_EQ(refused.message(),
              "resource.image: docker://" + host + "/a/b: " + host +
                  " does not answer as a registry; check the name, or ask an administrator: the "
                  "server's log says why");
  }
}

}  // namespace
}  // namespace hai
