#include "proto/convert/shell_convert.h"

#include <gtest/gtest.h>

#include "hai/v1/agent.pb.h"

namespace hai {
namespace {

ShellRequest some_request() {
  return {.ticket = "hai_x",
          .key = {JobId{17}, 2, 3},
          .program = {.argv = {"sh", "-c", "echo \xff"},
                      .terminal = TerminalSize{.rows = 24, .columns = 80},
                      .term = "xterm",
                      .port = 0,
                      .is_own = true,
                      .service = {}}};
}

Status judge(const ShellProgram& program) {
  v1::ShellProgram message;
  to_proto(program, message);
  return from_proto(message).status();
}

TEST(ShellConvert, WhatIsAskedComesThroughAsItIs) {
  v1::OpenShell message;
  to_proto(some_request(), message);
  v1::OpenShell read;
  ASSERT_TRUE(read.ParseFromString(message.SerializeAsString()));
  EXPECT_EQ(from_proto(read).value(), some_request());
}

TEST(ShellConvert, RefusesWhatMakesNoSense) {
  EXPECT_EQ(judge({.argv = {std::string("a\0b", 3)}}).message(), "argv: a word has a zero byte");
  EXPECT_EQ(judge({.argv = {""}}).message(), "argv: the program has no name");
  EXPECT_FALSE(judge({.argv = {std::string(kShellArgvBytesMax + 1, 'x')}}).is_ok());
  EXPECT_FALSE(judge({.argv = std::vector<std::string>(5'000, "x")}).is_ok());
  EXPECT_FALSE(judge({.terminal = TerminalSize{.rows = -1, .columns = 80}}).is_ok());
  EXPECT_FALSE(judge({.terminal = TerminalSize{.rows = 24, .columns = 100'000}}).is_ok());
  EXPECT_FALSE(judge({.term = "a/b"}).is_ok());
  EXPECT_FALSE(judge({.term = std::string(65, 'x')}).is_ok());
  EXPECT_FALSE(judge({.port = 65'536}).is_ok());
  EXPECT_FALSE(judge({.port = -1}).is_ok());
  EXPECT_EQ(judge({.argv = {"cat"}, .port = 80}).message(),
            "port: goes with no program and no terminal");
  EXPECT_TRUE(judge({}).is_ok());
  EXPECT_TRUE(judge({.port = 80}).is_ok());
}

}  // namespace
}  // namespace hai
