#include "cli/job_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

const JobFile kFile{"job.yaml", "version: 2\nname: a\nresource:\n  group: x\n  node_count: 1\n"};

TEST(JobFile, KnowsTheLinesOfFields) {
  EXPECT_EQ(kFile.line_of("name"), 2);
  EXPECT_EQ(kFile.line_of("resource.node_count"), 5);
  EXPECT_EQ(kFile.line_of("resource.image"), 0);
  EXPECT_EQ(kFile.line_of("name.first"), 0);
  EXPECT_EQ(kFile.line_of(""), 0);
  EXPECT_EQ((JobFile{"x", "[not: a job"}.line_of("not")), 0);
}

TEST(JobFile, LocatesWhatTheServerRefuses) {
  const Status refused = invalid_argument("resource.group: there is no node group 'x'");
  EXPECT_EQ(kFile.locate(refused).message(),
            "job.yaml: line 4: resource.group: there is no node group 'x'");
  EXPECT_EQ(kFile.locate(refused).code(), Code::invalid_argument);
  for (const char* text : {"quota of ann: 3 nodes", "resource.image: not yet", "no field", ""}) {
    const Status status = invalid_argument("{}", text);
    EXPECT_EQ(kFile.locate(status).message(), text);
  }
}

class MissingFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = fs::temp_directory_path() / "hai-job-file-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    std::ofstream(folder_ / "run.sh") << "exit 0\n";
    std::ofstream(folder_ / "notes") << "no program\n";
    spec_.workspace = folder_.string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  // "PATH: MESSAGE" of the first error, with the folder as W; "" if there is none.
  std::string error_of(const std::string& entrypoint) {
    spec_.entrypoint = entrypoint;
    const std::vector<FieldError> errors = find_missing_files(spec_);
    if (errors.empty()) return "";
    std::string text = errors[0].path + ": " + errors[0].message;
    const size_t at = text.find(folder_.string());
    return at == std::string::npos ? text : text.replace(at, folder_.string().size(), "W");
  }

  fs::path folder_;
  JobSpec spec_;
};

TEST_F(MissingFiles, WhatIsThereIsFine) {
  for (const std::string& entrypoint : {std::string("run.sh"), std::string("/bin/sh"),
                                        std::string("sh"), folder_.string() + "/run.sh"}) {
    EXPECT_EQ(error_of(entrypoint), "") << entrypoint;
  }
}

TEST_F(MissingFiles, WhatIsNotThereIsNamed) {
  EXPECT_EQ(error_of("gone.py"), "spec.entrypoint: there is no file W/gone.py");
  EXPECT_EQ(error_of("surely-no-such-program"),
            "spec.entrypoint: there is no file W/surely-no-such-program");
  EXPECT_EQ(error_of("."), "spec.entrypoint: W/. is not a file");
  EXPECT_EQ(error_of("notes"),
            "spec.entrypoint: W/notes is not executable: chmod +x it, or name it .py or .sh");
  spec_.workspace += "/run.sh";
  EXPECT_EQ(error_of("run.sh"), "spec.workspace: W/run.sh is not a directory");
  spec_.workspace += ".d";
  EXPECT_EQ(error_of("run.sh"), "spec.workspace: there is no directory W/run.sh.d");
}

}  // namespace
}  // namespace hai::cli
