#include "server/http/web_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace hai {
namespace {

namespace fs = std::filesystem;

class Web : public ::testing::Test {
 protected:
  Web() {
    std::string pattern = (fs::temp_directory_path() / "hai-web-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    put("index.html", "<!doctype html>");
    put("theme.js", "let a = 1;");
    put("assets/index-abc.js", std::string(10'000, 'j'));
    put("assets/font-def.woff2", std::string(10'000, 'f'));
  }
  ~Web() override { fs::remove_all(folder_); }

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path, std::ios::binary) << text;
  }
  HttpResponse get(const std::string& path, std::map<std::string, std::string> headers = {},
                   const std::string& method = "GET") const {
    return WebFiles::load(folder_.string())
        .value()
        .answer({.method = method, .path = path, .headers = std::move(headers)});
  }
  static std::string header(const HttpResponse& response, const std::string& name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(Web, AssetsAreKeptForEver) {
  const HttpResponse script = get("/assets/index-abc.js");
  EXPECT_EQ(script.body.size(), 10'000u);
  EXPECT_EQ(script.content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(header(script, "Cache-Control"), "public, max-age=31536000, immutable");
  const HttpResponse zipped = get("/assets/index-abc.js", {{"accept-encoding", "gzip, br"}});
  EXPECT_EQ(header(zipped, "Content-Encoding"), "gzip");
  EXPECT_LT(zipped.body.size(), 200u);
  EXPECT_EQ(
      header(get("/assets/font-def.woff2", {{"accept-encoding", "gzip"}}), "Content-Encoding"), "");
}

TEST_F(Web, EveryOtherPathIsAPage) {
  for (const char* path : {"/", "/jobs", "/jobs/7", "/nodes/node-1.example.org", "/index.html"}) {
    const HttpResponse page = get(path);
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_EQ(page.body, "<!doctype html>") << path;
    EXPECT_EQ(header(page, "Cache-Control"), "no-cache");
    EXPECT_NE(
        header(page, "Content-Security-Policy")
            .find("default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"),
        std::string::npos);
  }
  EXPECT_EQ(get("/theme.js").body, "let a = 1;");
  EXPECT_EQ(get("/assets/index-gone.js").status, 404);
  EXPECT_EQ(get("/jobs", {}, "POST").status, 405);
}

TEST_F(Web, NoPathLeavesTheFolder) {
  put("../outside.txt", "secret");
  for (const char* path : {"/../outside.txt", "//etc/passwd", "/assets/../../outside.txt"}) {
    EXPECT_EQ(get(path).body.find("secret"), std::string::npos) << path;
  }
  fs::remove(folder_.parent_path() / "outside.txt");
}

TEST_F(Web, WhatIsThePagesAndWhatIsNot) {
  for (const char* path : {"/api/v1/jobs", "/api", "/livez", "/readyz", "/metrics", "/version"}) {
    EXPECT_FALSE(WebFiles::is_page_or_file(path)) << path;
  }
  const WebFiles web = WebFiles::load(folder_.string()).value();
  EXPECT_TRUE(web.is_page("/jobs"));
  EXPECT_FALSE(web.is_page("/theme.js"));
  EXPECT_FALSE(web.is_page("/assets/gone.js"));
}

TEST_F(Web, AFolderThatIsNoDashboardIsRefused) {
  fs::remove(folder_ / "index.html");
  EXPECT_FALSE(WebFiles::load(folder_.string()).is_ok());
  EXPECT_FALSE(WebFiles::load((folder_ / "nowhere").string()).is_ok());
}

}  // namespace
}  // namespace hai
