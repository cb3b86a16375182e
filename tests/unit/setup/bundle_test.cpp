#include "server/setup/bundle.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

Bundle some() {
  return {.mark = {.id = "0123abcd", .cluster = "fire"},
          .config = "cluster: fire\ntls: {key: @folder@/server.key}\n",
          .files = {{"ca/ca.crt", "certificate"}, {"secrets.key", std::string("\0\xff\n", 3)}}};
}

TEST(Bundle, ComesBackAsItWas) {
  const Result<Bundle> read = parse_bundle(format_bundle(some()));
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_EQ(read.value(), some());
}

TEST(Bundle, RefusesPathsThatLeadOut) {
  for (const char* path : {"../passwd", "/etc/passwd", "ca/../../x", "", "a//b", "./x"}) {
    Bundle bundle = some();
    bundle.files[path] = "x";
    EXPECT_EQ(parse_bundle(format_bundle(bundle)).status().code(), Code::invalid_argument) << path;
  }
}

TEST(Bundle, RefusesWhatIsNone) {
  const std::string good = format_bundle(some());
  for (
      const std::string& text :
      {std::string(), std::string("{}"), std::string("[]"), good.substr(0, good.size() / 2),
       std::string(R"({"hai_bundle": 2})"),
       std::string(R"({"hai_bundle": 1, "id": "a", "cluster": "b", "config": 3, "files": {}})"),
       std::string(R"({"hai_bundle": 1, "id": "", "cluster": "b", "config": "", "files": {}})"),
       std::string(
           R"({"hai_bundle": 1, "id": "a", "cluster": "b", "config": "", "files": {"x": "!"}})")}) {
    EXPECT_EQ(parse_bundle(text).status().code(), Code::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace hai
