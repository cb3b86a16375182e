// How many jobs a second a server takes: so many clients, each with one call at a time, a job or a
// batch per call. Every answer is durable. Also fills a cluster for other measurements.

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/bench/load/verbs.h"

namespace hai::bench {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

struct Outcome {
  std::vector<double> milliseconds;  // of each call
  int accepted = 0;
  std::string error;
};

struct Work {
  const SubmitOptions& options;
  std::vector<Shape> shapes;  // of each job; empty = all alike
  std::atomic<int> next{0};

  v1::SubmitJobRequest job(int number) const {
    const Shape shape =
        shapes.empty() ? Shape{options.nodes, 0} : shapes[static_cast<size_t>(number)];
    return make_job(options.job, shape, number);
  }
};

grpc::Status submit_batch(Connection& connection, const Work& work, int first, int count,
                          Outcome& outcome) {
  grpc::ClientContext context;
  connection.authorize(context);
  v1::SubmitJobsRequest request;
  for (int i = 0; i < count; ++i) *request.add_jobs() = work.job(first + i);
  v1::SubmitJobsReply reply;
  const grpc::Status status = connection.api().SubmitJobs(&context, request, &reply);
  for (const auto& result : reply.results()) {
    outcome.accepted += result.job_id() != 0 ? 1 : 0;
    if (result.job_id() == 0) outcome.error = result.message();
  }
  return status;
}

Outcome run_client(const ServerAddress& address, Work& work) {
  Outcome outcome;
  Connection connection(address);
  const SubmitOptions& options = work.options;
  for (;;) {
    const int first = work.next.fetch_add(options.batch);
    if (first >= options.jobs) return outcome;
    const auto began = Clock::now();
    grpc::Status status;
    if (options.batch == 1) {
      grpc::ClientContext context;
      connection.authorize(context);
      v1::SubmitJobReply reply;
      status = connection.api().SubmitJob(&context, work.job(first), &reply);
      outcome.accepted += status.ok() ? 1 : 0;
    } else {
      const int count = std::min(options.batch, options.jobs - first);
      status = submit_batch(connection, work, first, count, outcome);
    }
    outcome.milliseconds.push_back(milliseconds_since(began));
    if (!status.ok()) {
      outcome.error = status.error_message();
      return outcome;
    }
  }
}

}  // namespace

int submit(const ServerAddress& address, SubmitOptions options) {
  Work work{.options = options, .shapes = {}};
  if (!options.shapes_file.empty()) {
    work.shapes = read_shapes(options.shapes_file);
    options.jobs = static_cast<int>(work.shapes.size());
  }
  std::vector<Outcome> outcomes(static_cast<size_t>(options.clients));
  std::vector<std::thread> threads;
  const auto began = Clock::now();
  for (Outcome& outcome : outcomes) {
    threads.emplace_back([&] { outcome = run_client(address, work); });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = milliseconds_since(began) / 1e3;
  std::vector<double> calls;
  int accepted = 0;
  std::string error;
  for (const Outcome& outcome : outcomes) {
    calls.insert(calls.end(), outcome.milliseconds.begin(), outcome.milliseconds.end());
    accepted += outcome.accepted;
    if (!outcome.error.empty()) error = outcome.error;
  }
  fmt::print(
      R"({{"jobs":{},"seconds":{:.3f},"jobs_per_s":{:.1f},"clients":{},"batch":{},"p50_ms":{:.2f},"p99_ms":{:.2f}}})"
      "\n",
      accepted, seconds, accepted / seconds, options.clients, options.batch, quantile(calls, 0.5),
      quantile(calls, 0.99));
  if (accepted == options.jobs) return 0;
  fmt::print(stderr, "{} of {} were not accepted: {}\n", options.jobs - accepted, options.jobs,
             error);
  return 1;
}

}  // namespace hai::bench
