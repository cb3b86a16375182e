#pragma once
// A CA of a test and what it has issued, as files in a folder that goes with it.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/tls/authority.h"
#include "common/tls/tls_files.h"

namespace hai {

class TestAuthority {
 public:
  TestAuthority() {
    std::string folder = testing::TempDir() + "/hai-tls-XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    own_ = make_authority().value();
    write("ca.crt", own_.certificate);
  }
  ~TestAuthority() { std::filesystem::remove_all(folder_); }
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;

  std::string ca() const { return path("ca.crt"); }
  const std::string& ca_text() const { return own_.certificate; }

  // Replaces what the name has had.
  TlsFiles server(const std::string& file, const std::vector<std::string>& names, int days = 1) {
    return put(file, issue_for_server(own_, names, days).value());
  }
  TlsFiles node(const std::string& file, const std::string& node, int days = 1) {
    return put(file, issue_for_node(own_, node, days).value());
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    const std::string fresh = path(name) + ".new";
    std::ofstream(fresh) << text;
    ::chmod(fresh.c_str(), 0600);
    std::filesystem::rename(fresh, path(name));
  }

 private:
  TlsFiles put(const std::string& file, const KeyAndCertificate& pair) {
    write(file + ".key", pair.key);
    write(file + ".crt", pair.certificate);
    return {.certificate = path(file + ".crt"), .key = path(file + ".key"), .ca = ca()};
  }

  std::string folder_;
  KeyAndCertificate own_;
};

}  // namespace hai
