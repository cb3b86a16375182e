// More than a server can take: so many submits outstanding all the time, each answered one replaced
// at once, whatever the answer was. What was acknowledged is written down, to be looked for later.

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>

#include "tests/bench/load/verbs.h"

namespace hai::bench {

namespace {

using Clock = std::chrono::steady_clock;

class Storm {
 public:
  Storm(const ServerAddress& address, const StormOptions& options) : options_(options) {
    for (int i = 0; i < options.connections; ++i) {
      connections_.push_back(std::make_unique<Connection>(address));
    }
  }

  void run() {
    end_ = Clock::now() + std::chrono::seconds(options_.seconds);
    for (int i = 0; i < options_.outstanding; ++i) start_one();
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return outstanding_ == 0; });
  }

  void report() {
    fmt::print(R"({{"calls":{},"accepted":{},"per_s":{:.0f},"accepted_p50_ms":{:.1f},)", calls_,
               accepted_.size(), static_cast<double>(accepted_.size()) / options_.seconds,
               quantile(accepted_ms_, 0.5));
    fmt::print(R"("accepted_p99_ms":{:.1f},"refused_p50_ms":{:.1f},"refused_p99_ms":{:.1f},)",
               quantile(accepted_ms_, 0.99), quantile(refused_ms_, 0.5),
               quantile(refused_ms_, 0.99));
    fmt::print(R"("refused_without_hint":{},"codes":{{)", without_hint_);
    bool is_first = true;
    for (const auto& [code, count] : codes_) {
      fmt::print(R"({}"{}":{})", is_first ? "" : ",", code, count);
      is_first = false;
    }
    fmt::print("}}}}\n");
    if (options_.accepted_file.empty()) return;
    std::FILE* file = std::fopen(options_.accepted_file.c_str(), "w");
    if (file == nullptr) throw std::runtime_error(options_.accepted_file + ": cannot be written");
    for (const int64_t job : accepted_) fmt::print(file, "{}\n", job);
    std::fclose(file);
  }

 private:
  struct Call {
    grpc::ClientContext context;
    v1::SubmitJobRequest request;
    v1::SubmitJobReply reply;
    Clock::time_point began;
  };

  void start_one() {
    auto call = std::make_shared<Call>();
    int number = 0;
    {
      std::lock_guard lock(mutex_);
      number = calls_++;
      ++outstanding_;
    }
    Connection& connection = *connections_[static_cast<size_t>(number) % connections_.size()];
    connection.authorize(call->context);
    call->request = make_job(options_.job, {.nodes = 1, .seconds = 0}, number);
    call->began = Clock::now();
    connection.api().async()->SubmitJob(
        &call->context, &call->request, &call->reply,
        [this, call](const grpc::Status& status) { ended(*call, status); });
  }

  void ended(const Call& call, const grpc::Status& status) {
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - call.began).count();
    bool goes_on = false;
    {
      std::lock_guard lock(mutex_);
      ++codes_[status.error_code()];
      if (status.ok()) {
        accepted_.push_back(call.reply.job_id());
        accepted_ms_.push_back(ms);
      } else {
        refused_ms_.push_back(ms);
        const auto& trailer = call.context.GetServerTrailingMetadata();
        if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
            !trailer.contains("retry-after-ms")) {
          ++without_hint_;
        }
      }
      goes_on = Clock::now() < end_;
    }
    if (goes_on) start_one();
    std::lock_guard lock(mutex_);
    if (--outstanding_ == 0) idle_.notify_all();
  }

  const StormOptions& options_;
  std::vector<std::unique_ptr<Connection>> connections_;
  Clock::time_point end_;
  std::mutex mutex_;
  std::condition_variable idle_;
  int outstanding_ = 0;
  int calls_ = 0;
  int without_hint_ = 0;
  std::map<int, int> codes_;
  std::vector<int64_t> accepted_;
  std::vector<double> accepted_ms_;
  std::vector<double> refused_ms_;
};

}  // namespace

int storm(const ServerAddress& address, const StormOptions& options) {
  Storm storm(address, options);
  storm.run();
  storm.report();
  return 0;
}

}  // namespace hai::bench
