#include "cli/commands/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "cli/file.h"

namespace hai::cli {
namespace {

const Launcher kPython = {.verb = "python", .interpreter = {"python3", "-u"}, .suffix = ".py"};
const Launcher kExec = {.verb = "exec"};

class Launch : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "/hai-launch-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    for (const char* file : {"train.py", "script", "run.sh"}) {
      ASSERT_TRUE(write_file(folder_ + "/" + file, "", 0755).is_ok());
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  JobSpec spec_of(const Launcher& launcher, const std::vector<std::string>& program) {
    JobSpec spec;
    const Status status = spec_of_program(launcher, program, folder_, spec);
    EXPECT_TRUE(status.is_ok()) << status.message();
    EXPECT_EQ(spec.workspace, folder_);
    return spec;
  }

  std::string folder_;
};

TEST_F(Launch, APythonFileIsTheEntrypoint) {
  const JobSpec spec = spec_of(kPython, {"train.py", "--config", "a b", "it's"});
  EXPECT_EQ(spec.entrypoint, "train.py");
  EXPECT_EQ(spec.parameters, "--config 'a b' 'it'\\''s'");
  EXPECT_TRUE(spec.name.starts_with("train-"));
}

TEST_F(Launch, TwoSubmissionsOfOneFileHaveTwoNames) {
  EXPECT_NE(spec_of(kPython, {"train.py"}).name, spec_of(kPython, {"train.py"}).name);
}

TEST_F(Launch, AModuleOrAFileWithoutSuffixNeedsTheInterpreter) {
  const JobSpec module = spec_of(kPython, {"-m", "pkg.train", "-x"});
  EXPECT_EQ(module.entrypoint, "/usr/bin/env");
  EXPECT_EQ(module.parameters, "python3 -u -m pkg.train -x");
  EXPECT_TRUE(module.name.starts_with("python-"));
  EXPECT_EQ(spec_of(kPython, {"script"}).parameters, "python3 -u script");
}

TEST_F(Launch, ExecFindsFilesHereThenInPath) {
  EXPECT_EQ(spec_of(kExec, {"run.sh", "1"}).entrypoint, "run.sh");
  EXPECT_TRUE(spec_of(kExec, {"sh", "-c", "true"}).entrypoint.ends_with("/sh"));
}

TEST_F(Launch, ExecInAnImageFindsProgramsThere) {
  const auto entrypoint_of = [&](const std::string& program) {
    JobSpec spec{.image = "box"};
    const Status status = spec_of_program(kExec, {program}, folder_, spec);
    return status.is_ok() ? spec.entrypoint : status.message();
  };
  EXPECT_EQ(entrypoint_of("run.sh"), "run.sh");
  EXPECT_EQ(entrypoint_of("sh"), "sh");
  EXPECT_EQ(entrypoint_of("/opt/app/serve"), "/opt/app/serve");
  EXPECT_THAT(entrypoint_of("./nope"), testing::HasSubstr("no such program"));
}

TEST_F(Launch, WhatIsNotThereIsRefusedBeforeItIsSubmitted) {
  JobSpec spec;
  EXPECT_EQ(spec_of_program(kPython, {"nope.py"}, folder_, spec),
            invalid_argument("nope.py: no such file in {}", folder_));
  EXPECT_EQ(spec_of_program(kExec, {"surely-no-such-program"}, folder_, spec).code(),
            Code::invalid_argument);
}

}  // namespace
}  // namespace hai::cli
