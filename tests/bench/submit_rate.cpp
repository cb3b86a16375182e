// How many jobs a second a server takes: so many clients over gRPC, each with one call at a time, a
// job or a batch per call. Every answer is durable. Also fills a cluster for other measurements.

#include <fmt/core.h>
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include "hai/v1/api.grpc.pb.h"
#include "proto/convert/spec_convert.h"

namespace hai {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string server = "127.0.0.1:7700";
  std::string token_file;
  int clients = 16;
  int jobs = 100'000;
  int batch = 1;
  int nodes = 1;
  std::string prefix = "bench";
};

v1::SubmitJobRequest make_job(const Options& options, int number) {
  v1::SubmitJobRequest request;
  request.set_request_id(fmt::format("{}-{}", options.prefix, number));
  JobSpec spec;
  spec.name = request.request_id();
  spec.priority = Priority::normal;
  spec.workspace = "/data/bench";
  spec.entrypoint = "train.py";
  spec.parameters = "--config 7b.yaml";
  spec.group = "training";
  spec.node_count = options.nodes;
  *request.mutable_spec() = to_proto(spec);
  return request;
}

struct Outcome {
  std::vector<double> milliseconds;  // of each call
  int accepted = 0;
  std::string error;
};

Outcome run_client(const Options& options, const std::string& token, std::atomic<int>& next) {
  Outcome outcome;
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  auto stub = v1::Api::NewStub(
      grpc::CreateCustomChannel(options.server, grpc::InsecureChannelCredentials(), arguments));
  for (;;) {
    const int first = next.fetch_add(options.batch);
    if (first >= options.jobs) return outcome;
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + token);
    const int count = std::min(options.batch, options.jobs - first);
    grpc::Status status;
    const auto began = Clock::now();
    if (options.batch == 1) {
      v1::SubmitJobReply reply;
      status = stub->SubmitJob(&context, make_job(options, first), &reply);
      outcome.accepted += status.ok() ? 1 : 0;
    } else {
      v1::SubmitJobsRequest request;
      for (int i = 0; i < count; ++i) *request.add_jobs() = make_job(options, first + i);
      v1::SubmitJobsReply reply;
      status = stub->SubmitJobs(&context, request, &reply);
      for (const auto& result : reply.results()) {
        if (result.job_id() != 0) {
          ++outcome.accepted;
        } else {
          outcome.error = result.message();
        }
      }
    }
    outcome.milliseconds.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - began).count());
    if (!status.ok()) {
      outcome.error = status.error_message();
      return outcome;
    }
  }
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted.empty()
             ? 0
             : sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

int run(const Options& options) {
  std::ifstream file(options.token_file);
  std::string token;
  std::getline(file, token);
  std::atomic<int> next{0};
  std::vector<Outcome> outcomes(static_cast<size_t>(options.clients));
  std::vector<std::thread> threads;
  const auto began = Clock::now();
  for (Outcome& outcome : outcomes) {
    threads.emplace_back([&] { outcome = run_client(options, token, next); });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  std::vector<double> calls;
  int accepted = 0;
  std::string error;
  for (const Outcome& outcome : outcomes) {
    calls.insert(calls.end(), outcome.milliseconds.begin(), outcome.milliseconds.end());
    accepted += outcome.accepted;
    if (!outcome.error.empty()) error = outcome.error;
  }
  std::ranges::sort(calls);
  fmt::print(
      "{} jobs in {:.2f} s: {:.0f}/s, {} clients, {} per call; call p50 {:.2f} ms, p99 {:.2f} ms\n",
      accepted, seconds, accepted / seconds, options.clients, options.batch, quantile(calls, 0.5),
      quantile(calls, 0.99));
  if (accepted == options.jobs) return 0;
  fmt::print(stderr, "{} of {} were not accepted: {}\n", options.jobs - accepted, options.jobs,
             error);
  return 1;
}

}  // namespace
}  // namespace hai

int main(int argc, char** argv) {
  hai::Options options;
  CLI::App app{"submit_rate: jobs per second that a hai-server takes"};
  app.add_option("--server", options.server, "host:port of the leader's gRPC")
      ->capture_default_str();
  app.add_option("--token-file", options.token_file, "the token of the submitter")->required();
  app.add_option("--clients", options.clients, "connections, each with one call at a time");
  app.add_option("--jobs", options.jobs, "in all");
  app.add_option("--batch", options.batch, "jobs per call, 1 to 1000")->check(CLI::Range(1, 1000));
  app.add_option("--nodes", options.nodes, "nodes per job");
  app.add_option("--prefix", options.prefix, "of the names, unique per run");
  CLI11_PARSE(app, argc, argv);
  return hai::run(options);
}
