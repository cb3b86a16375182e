#include "cli/slurm/step/own_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <thread>

#include "cli/slurm/step/fd.h"
#include "cli/slurm/step/output_writer.h"

namespace hai::cli::slurm {
namespace {

// A shim that answers one request.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer) {
    EXPECT_NE(::mkdtemp(folder_), nullptr);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    door_ = Fd(::socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(::bind(door_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(door_.get(), 1), 0);
    thread_ = std::thread([this, answer = std::move(answer)] {
      const Fd guest(::accept(door_.get(), nullptr, nullptr));
      char buffer[256];
      const ssize_t count = ::recv(guest.get(), buffer, sizeof buffer, 0);
      asked_ = std::string(buffer, static_cast<size_t>(std::max<ssize_t>(count, 0)));
      write_all(guest.get(), answer);
    });
  }
  ~OneAnswer() { std::filesystem::remove_all(folder_); }
  std::string path() const { return std::string(folder_) + "/s"; }
  std::string asked() {
    thread_.join();
    return asked_;
  }

 private:
  char folder_[32] = "/tmp/hai-own-job-XXXXXX";
  Fd door_;
  std::thread thread_;
  std::string asked_;
};

TEST(SlurmOwnJob, AsksTheShimOfItsRank) {
  OneAnswer yes("{\"ok\":true,\"suspend\":true}\n");
  EXPECT_TRUE(is_asked_to_leave(yes.path()).value());
  EXPECT_EQ(yes.asked(), "{\"op\":\"receive_suspend_command\"}\n");
  OneAnswer no("{\"ok\":true,\"suspend\":false}\n");
  EXPECT_FALSE(is_asked_to_leave(no.path()).value());
  no.asked();
  OneAnswer done("{\"ok\":true}\n");
  EXPECT_TRUE(leave_now(done.path()).is_ok());
  EXPECT_EQ(done.asked(), "{\"op\":\"go_suspend\"}\n");
  OneAnswer kept("{\"ok\":true}\n");
  EXPECT_TRUE(keep_step_record(kept.path(), R"({"step":0})").is_ok());
  EXPECT_EQ(kept.asked(), "{\"op\":\"record_step\",\"record\":{\"step\":0}}\n");
}

TEST(SlurmOwnJob, WhatIsNoAnswerIsAnError) {
  for (const char* answer : {"{\"ok\":false,\"error\":\"no\"}\n", "nonsense\n", ""}) {
    OneAnswer shim(answer);
    EXPECT_FALSE(leave_now(shim.path()).is_ok()) << answer;
    shim.asked();
  }
  EXPECT_THAT(leave_now("/no/such/socket").message(), testing::HasSubstr("/no/such/socket"));
}

}  // namespace
}  // namespace hai::cli::slurm
