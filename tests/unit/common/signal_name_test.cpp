#include "common/signal_name.h"

#include <gtest/gtest.h>

#include <cctype>
#include <csignal>

namespace hai {
namespace {

TEST(SignalName, ReadsEveryForm) {
  EXPECT_EQ(parse_signal("SIGUSR1").value(), SIGUSR1);
  EXPECT_EQ(parse_signal("USR1").value(), SIGUSR1);
  EXPECT_EQ(parse_signal("sigterm").value(), SIGTERM);
  for (int signal = 1; signal < 32; ++signal) {
    std::string name = signal_name(signal);
    EXPECT_EQ(parse_signal(name).value(), signal);
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    EXPECT_EQ(parse_signal(name).value(), signal) << name;
  }
}

TEST(SignalName, RefusesOthers) {
  for (const char* text : {"", "SIG", "10", "SIGUSR3", "SIGSIGUSR1", "USR1 ", "SIGRTMIN"}) {
    EXPECT_FALSE(parse_signal(text).is_ok()) << text;
  }
  EXPECT_EQ(parse_signal("SAVE").status().message(),
            "unknown signal 'SAVE', write a name like SIGUSR1");
  EXPECT_EQ(signal_name(99), "signal 99");
}

}  // namespace
}  // namespace hai
