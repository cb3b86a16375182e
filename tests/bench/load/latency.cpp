// From the acknowledged submit to all ranks running, on a cluster with room: asked every 2 ms, so a
// figure is up to that much too long.

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "common/rng.h"
#include "tests/bench/load/verbs.h"

namespace hai::bench {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPollPause = std::chrono::milliseconds(2);
constexpr auto kLimit = std::chrono::seconds(60);

double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

template <typename Test>
Clock::time_point poll(Connection& connection, int64_t job, const char* what, const Test& test) {
  const auto began = Clock::now();
  for (;;) {
    const v1::Job now = connection.get(job);
    const auto answered = Clock::now();
    if (test(now)) return answered;
    if (answered - began > kLimit) {
      throw std::runtime_error(fmt::format("job {} is not {} after a minute", job, what));
    }
    std::this_thread::sleep_for(kPollPause);
  }
}

}  // namespace

int latency(const ServerAddress& address, const LatencyOptions& options) {
  Connection connection(address);
  std::vector<std::string> acknowledged;
  std::vector<std::string> running;
  for (int i = 0; i < options.tries; ++i) {
    const auto asked = Clock::now();
    const int64_t job =
        connection.submit(make_job(options.job, {.nodes = options.nodes, .seconds = 600}, i))
            .job_id();
    const auto answered = Clock::now();
    const auto ran = poll(connection, job, "running",
                          [](const v1::Job& now) { return now.attempt_state() == "running"; });
    acknowledged.push_back(fmt::format("{:.3f}", milliseconds(answered - asked)));
    running.push_back(fmt::format("{:.3f}", milliseconds(ran - answered)));
    connection.stop(job);
    poll(connection, job, "stopped", [](const v1::Job& now) { return now.state() == "stopped"; });
  }
  fmt::print("{{\"ack\":[{}],\"run\":[{}]}}\n", fmt::join(acknowledged, ","),
             fmt::join(running, ","));
  return 0;
}

int get(const ServerAddress& address, const GetOptions& options) {
  Connection connection(address);
  Rng rng(1);
  std::vector<double> calls;
  for (int i = 0; i < options.tries; ++i) {
    const auto asked = Clock::now();
    connection.get(rng.between(options.first, options.last));
    calls.push_back(milliseconds(Clock::now() - asked));
  }
  fmt::print("{{\"tries\":{},\"p50_ms\":{:.3f},\"p99_ms\":{:.3f}}}\n", options.tries,
             quantile(calls, 0.5), quantile(calls, 0.99));
  return 0;
}

}  // namespace hai::bench
