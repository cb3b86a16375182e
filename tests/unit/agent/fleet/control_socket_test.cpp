#include "agent/fleet/control_socket.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <thread>

namespace hai {
namespace {

namespace asio = boost::asio;

class ControlSocketTest : public ::testing::Test {
 protected:
  ControlSocketTest() {
    std::string name = std::filesystem::temp_directory_path() / "hai-control-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "socket";
  }
  ~ControlSocketTest() override {
    socket_.reset();
    std::filesystem::remove_all(folder_);
  }
  Status open() {
    Result<std::unique_ptr<ControlSocket>> opened = ControlSocket::open(
        context_, path_, [](std::string_view line) { return "ok " + std::string(line); });
    if (opened.is_ok()) socket_ = std::move(opened).value();
    return opened.status();
  }
  // Says both lines on one connection, from a thread of its own.
  std::string say(const std::string& text, int answers) {
    std::string heard;
    std::thread client([&] {
      asio::io_context context;
      asio::local::stream_protocol::socket socket(context);
      socket.connect(path_.string());
      asio::write(socket, asio::buffer(text));
      for (int i = 0; i < answers; ++i) {
        std::string part;
        const size_t count = asio::read_until(socket, asio::dynamic_buffer(part), '\n');
        heard += part.substr(0, count);
      }
      context_.stop();
    });
    context_.restart();
    context_.run();
    client.join();
    return heard;
  }

  asio::io_context context_;
  std::filesystem::path folder_;
  std::filesystem::path path_;
  std::unique_ptr<ControlSocket> socket_;
};

TEST_F(ControlSocketTest, AnswersEachLine) {
  ASSERT_TRUE(open().is_ok());
  EXPECT_EQ(say("one\n", 1), "ok one\n");
  EXPECT_EQ(say("two\n", 1), "ok two\n");
}

TEST_F(ControlSocketTest, IsForItsOwnerOnlyAndLeavesNothing) {
  ASSERT_TRUE(open().is_ok());
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  socket_.reset();
  EXPECT_NE(stat(path_.c_str(), &info), 0);
}

TEST_F(ControlSocketTest, ReplacesWhatADeadProcessLeftButNoLivingOne) {
  ASSERT_TRUE(open().is_ok());
  std::unique_ptr<ControlSocket> first = std::move(socket_);
  EXPECT_EQ(open().code(), Code::failed_precondition);
  first.reset();
  std::FILE* stale = std::fopen(path_.c_str(), "w");
  ASSERT_NE(stale, nullptr);
  std::fclose(stale);
  EXPECT_TRUE(open().is_ok());
}

TEST_F(ControlSocketTest, RefusesAPathNoSocketCanHave) {
  path_ = folder_ / std::string(200, 'x');
  EXPECT_EQ(open().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace hai
