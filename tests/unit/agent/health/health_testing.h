#pragma once
// What tests of health checks share: a folder of their own, files in it, and how to find a result.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "agent/health/check.h"

namespace hai {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "hai-health-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }
  void append(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::app) << text;
  }
  void copy(const std::string& from, const std::string& name) const {
    std::filesystem::copy(from, path(name), std::filesystem::copy_options::recursive);
  }

 private:
  std::string path_;
};

inline const std::string kHealthData = HAI_HEALTH_DATA;

inline constexpr UnixTime kWall = unix_micros(1'790'000'000'000'000);

// `after` the machine's first day.
inline CheckInput input_at(Duration after) {
  return {.now = MonoTime(24h + after), .wall_now = kWall + after, .use = {}, .cleared = {}};
}

// "fail drain", "ok", "unknown"; "none" if there is no such result.
inline std::string verdict_of(const std::vector<CheckResult>& results, const std::string& name,
                              const std::string& subject = "") {
  for (const CheckResult& result : results) {
    if (result.name != name || result.subject != subject) continue;
    std::string text(to_string(result.verdict));
    if (result.verdict == CheckVerdict::fail) text += " " + std::string(to_string(result.tier));
    return text;
  }
  return "none";
}

inline CheckResult result_of(const std::vector<CheckResult>& results, const std::string& name,
                             const std::string& subject = "") {
  for (const CheckResult& result : results) {
    if (result.name == name && result.subject == subject) return result;
  }
  ADD_FAILURE() << "no result " << name << " " << subject;
  return {};
}

inline std::string verdict_of(const CheckResult& result) {
  return verdict_of({result}, result.name, result.subject);
}

}  // namespace hai
