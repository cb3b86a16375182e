// Many ways into the ranks of one node, as a server sees them that answers nothing.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "agent/shell/shells.h"
#include "common/asio_loop.h"
#include "hai/v1/shell.grpc.pb.h"

namespace hai {
namespace {

using testing::HasSubstr;
using testing::Not;

// Keeps how each shell has ended, by its ticket.
class ListeningServer final : public v1::NodeShells::Service {
 public:
  ListeningServer() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::map<std::string, std::string> ends() {
    const std::lock_guard lock(mutex_);
    return ends_;
  }

  grpc::Status Join(grpc::ServerContext* context,
                    grpc::ServerReaderWriter<v1::ShellMessage, v1::ShellMessage>* stream) override {
    const auto ticket = context->client_metadata().find(kShellTicketKey);
    v1::ShellMessage message;
    while (stream->Read(&message)) {
      if (!message.has_end()) continue;
      const std::lock_guard lock(mutex_);
      ends_[std::string(ticket->second.data(), ticket->second.size())] = message.end().error();
      break;
    }
    return grpc::Status::OK;
  }

 private:
  int port_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::string> ends_;
  std::unique_ptr<grpc::Server> server_;
};

class ShellsOfNode : public testing::Test {
 protected:
  ShellsOfNode() : path_(testing::TempDir() + "hai-shells-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(path_);
    std::ofstream(path_ + "/shim") << "#!/bin/sh\nexec sleep 600\n";
    ::chmod((path_ + "/shim").c_str(), 0755);
    Shells::Options options;
    options.data_dir = path_;
    options.shim_path = path_ + "/shim";
    options.images.store = path_ + "/images";
    options.is_live = [](const RankKey&) { return true; };
    shells_.emplace(loop_, loop_.io_context(), std::move(options));
  }
  ~ShellsOfNode() override {
    shells_.reset();
    std::filesystem::remove_all(path_);
  }

  // Tickets are NAME-0, NAME-1 and so on.
  void open(const std::string& name, const RankKey& key, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      ShellRequest request{.ticket = fmt::format("{}-{}", name, i), .key = key, .program = {}};
      request.program.argv = {"list"};
      shells_->open(server_.address(), {}, request);
    }
  }
  static RankKey rank(int64_t job, int number = 0) { return {JobId{job}, 1, number}; }

  // Runs until this one has ended; why it has.
  std::string end_of(const std::string& ticket) {
    const std::function<void()> look = [&] {
      if (server_.ends().contains(ticket) || loop_.now() > give_up_at_) return loop_.stop();
      loop_.call_after(10ms, look);
    };
    give_up_at_ = loop_.now() + 30s;
    loop_.post(look);
    loop_.run();
    const auto ends = server_.ends();
    const auto end = ends.find(ticket);
    EXPECT_NE(end, ends.end()) << ticket << " goes on";
    return end == ends.end() ? "" : end->second;
  }

  ListeningServer server_;
  AsioLoop loop_;
  const std::string path_;
  std::optional<Shells> shells_;
  MonoTime give_up_at_{};
};

constexpr size_t kOfJobs = Shells::kMax - Shells::kOfNode;

TEST_F(ShellsOfNode, OneJobHasHalfOfThePlacesAtMost) {
  open("one", rank(1), kOfJobs / 2);
  open("more", rank(1, 1), 1);
  EXPECT_EQ(end_of("more-0"),
            "job 1 has 120 shells and ports open on this node, and the 120 that are free are kept "
            "for other jobs; leave one");
  open("other", rank(2), kOfJobs / 4);
  open("another", rank(2), 1);
  EXPECT_THAT(end_of("another-0"), HasSubstr("job 2 has 60 shells and ports open"));
  // Nothing else has ended.
  EXPECT_EQ(server_.ends().size(), 2u);
}

TEST_F(ShellsOfNode, PlacesAreKeptForTheImagesOfTheNode) {
  size_t left = kOfJobs;
  for (int64_t job = 1; left > 0; ++job) {
    const size_t count = (left + 1) / 2;
    open("fills", rank(job), count);
    left -= count;
  }
  open("late", rank(1'000), 1);
  EXPECT_EQ(end_of("late-0"), "240 shells and ports are open on this node already; leave one");
  // Whether hai-image is beside this test or not.
  open("images", kImagesOfNode, 1);
  EXPECT_THAT(end_of("images-0"), Not(HasSubstr("open on this node")));
  EXPECT_EQ(server_.ends().size(), 2u);
}

}  // namespace
}  // namespace hai
