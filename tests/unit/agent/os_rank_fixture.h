#pragma once
// Real shims and real programs in a temporary directory. At the end of each test no process may be
// left: the test is the subreaper of all it starts, so none can hide.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "agent/os/log_reader.h"
#include "agent/os/os_rank_host.h"
#include "agent/os/process_table.h"
#include "agent/os/rank_directory.h"
#include "agent/os/shim_process.h"
#include "common/asio_loop.h"

namespace hai {

// Slow machines under load make these long; they only bound how long a failing test takes.
inline constexpr std::chrono::seconds kPatience{30};

class RankHostTest : public testing::Test {
 protected:
  RankHostTest() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::string path = "/tmp/hai-test-XXXXXX";
    root_ = ::mkdtemp(path.data());
    std::filesystem::permissions(root_, std::filesystem::perms(0755));
    workspace_ = root_ + "/workspace";
    std::filesystem::create_directory(workspace_);
    std::filesystem::permissions(workspace_, std::filesystem::perms(0777));
    options_.data_dir = root_ + "/data";
    options_.shim_path = HAI_SHIM_PATH;
    options_.unknown_user_runs_as_self = true;
    options_.confinement.system_users = {"root"};
  }

  void TearDown() override {
    if (host_) {
      for (const auto& [key, status] : statuses_) host_->kill(key);
      run_until([this] {
        return std::all_of(statuses_.begin(), statuses_.end(), [](const auto& entry) {
          return entry.second.phase == RankPhase::exited;
        });
      });
    }
    host_.reset();
    EXPECT_TRUE(poll([] { return live_descendants() == 0; })) << "processes left behind";
    std::filesystem::remove_all(root_);
  }

  static size_t live_descendants() {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    return descendants_of(::getpid()).size();
  }

  void start_host() {
    Result<std::unique_ptr<OsRankHost>> opened =
        OsRankHost::open(options_, loop_, loop_.io_context());
    ASSERT_TRUE(opened.is_ok()) << opened.status().message();
    host_ = std::move(opened).value();
    host_->set_listener([this](const RankStatus& status) {
      statuses_[status.key] = status;
      history_.push_back(status);
    });
    for (const RankStatus& status : host_->adopt()) statuses_[status.key] = status;
  }

  template <typename Condition>
  bool run_until(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      loop_.io_context().restart();
      loop_.io_context().run_one_for(std::chrono::milliseconds(5));
    }
    return true;
  }

  // Without turning the loop: as if the agent were dead.
  template <typename Condition>
  static bool poll(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      ::usleep(2000);
    }
    return true;
  }

  void write_script(const std::string& name, const std::string& text) {
    std::ofstream(workspace_ + "/" + name) << text;
    std::filesystem::permissions(workspace_ + "/" + name, std::filesystem::perms(0755));
  }

  LaunchRank order(const std::string& entrypoint, int64_t job = 1) {
    LaunchRank out;
    out.key = {.job = {job}, .attempt = 1, .rank = 0};
    out.job_name = "test";
    out.user = "root";
    out.workspace = workspace_;
    out.entrypoint = entrypoint;
    out.ranks = {{.node = "node-1", .address = "localhost"}};
    return out;
  }
  LaunchRank script(const std::string& text, int64_t job = 1) {
    const std::string name = "job" + std::to_string(job) + ".sh";
    write_script(name, text);
    return order(name, job);
  }

  void launch(const LaunchRank& order, Duration lease = 10min) {
    statuses_[order.key].key = order.key;
    host_->launch(order, loop_.now() + lease);
  }
  bool wait_running(const RankKey& key) {
    return run_until([&] { return statuses_[key].phase == RankPhase::running; });
  }
  RankStatus wait_exited(const RankKey& key) {
    EXPECT_TRUE(run_until([&] { return statuses_[key].phase == RankPhase::exited; }))
        << to_string(key);
    return statuses_[key];
  }
  bool wait_file(const std::string& name) {
    return run_until([&] { return std::filesystem::exists(workspace_ + "/" + name); });
  }
  std::string workspace_file(const std::string& name) {
    std::ifstream file(workspace_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string log_of(const RankKey& key) {
    const Result<LogPart> part = read_log(log_directory(options_.data_dir, key), 0, 1 << 30);
    return part.is_ok() ? part.value().bytes : "";
  }
  // Without the times.
  std::vector<std::string> log_lines(const RankKey& key) {
    std::istringstream text(log_of(key));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);)
      lines.push_back(line.substr(line.find(' ') + 1));
    return lines;
  }
  std::string rank_dir(const RankKey& key) { return rank_directory(options_.data_dir, key).path; }

  AsioLoop loop_;
  OsRankHostOptions options_;
  std::unique_ptr<OsRankHost> host_;
  std::map<RankKey, RankStatus> statuses_;
  std::vector<RankStatus> history_;
  std::string root_;
  std::string workspace_;
};

// A program's view of its HAI_SOCKET; blocking, so the shim must not need the test's loop.
class JobClient {
 public:
  explicit JobClient(const std::string& path)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    is_connected_ =
        ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const timeval patience = {.tv_sec = kPatience.count(), .tv_usec = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  bool is_connected() const { return is_connected_; }
  void send(const std::string& text) {
    size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t part = ::send(fd_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (part <= 0) return;
      sent += static_cast<size_t>(part);
    }
  }
  std::string receive_line() {
    std::string line;
    char c = 0;
    while (::recv(fd_.get(), &c, 1, 0) == 1 && c != '\n') line += c;
    return line;
  }
  std::string ask(const std::string& request) {
    send(request + "\n");
    return receive_line();
  }

 private:
  UniqueFd fd_;
  bool is_connected_ = false;
};

}  // namespace hai
