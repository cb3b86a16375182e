// hai_load: load on a hai-server over gRPC, and what it answers.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "common/job_spec.h"
#include "proto/convert/grpc_locks.h"
#include "tests/bench/load/verbs.h"

namespace hai::bench {
namespace {

void add_job_options(CLI::App& verb, JobOptions& job) {
  verb.add_option("--prefix", job.prefix, "of the names, unique per run");
  verb.add_option("--priority", job.priority)->check([](const std::string& text) {
    return parse_priority(text).is_ok() ? "" : "no such priority";
  });
  verb.add_option("--entrypoint", job.entrypoint, "a program that sleeps gets its seconds");
  verb.add_option("--workspace", job.workspace);
  verb.add_option("--gpus", job.gpus, "per node, 0 = whole nodes");
  verb.add_option("--begin-at", job.begin_at_s, "Unix time in seconds");
}

int run(int argc, char** argv) {
  leave_grpc_locks_unchecked();
  CLI::App app{"hai_load: load on a hai-server, and what it answers"};
  app.require_subcommand(1);
  ServerAddress address;
  app.add_option("--server", address.server, "host:port of the leader's gRPC");
  app.add_option("--token-file", address.token_file, "the token of the submitter")->required();
  app.add_option("--ca", address.ca, "CA of the server: speak TLS");

  SubmitOptions submits;
  CLI::App* submit_verb = app.add_subcommand("submit", "jobs per second that it takes");
  add_job_options(*submit_verb, submits.job);
  submit_verb->add_option("--clients", submits.clients, "connections, one call at a time each");
  submit_verb->add_option("--jobs", submits.jobs, "in all");
  submit_verb->add_option("--batch", submits.batch, "jobs per call")->check(CLI::Range(1, 1000));
  submit_verb->add_option("--nodes", submits.nodes, "nodes per job");
  submit_verb->add_option("--shapes", submits.shapes_file, "a line NODES SECONDS for each job");

  LatencyOptions latencies;
  CLI::App* latency_verb = app.add_subcommand("latency", "from acknowledged to running");
  add_job_options(*latency_verb, latencies.job);
  latency_verb->add_option("--tries", latencies.tries);
  latency_verb->add_option("--nodes", latencies.nodes);

  GetOptions gets;
  CLI::App* get_verb = app.add_subcommand("get", "the state of random jobs");
  get_verb->add_option("--tries", gets.tries);
  get_verb->add_option("--first", gets.first, "lowest id");
  get_verb->add_option("--last", gets.last, "highest id");

  StormOptions storms;
  CLI::App* storm_verb = app.add_subcommand("storm", "more submits than it can take");
  add_job_options(*storm_verb, storms.job);
  storm_verb->add_option("--seconds", storms.seconds);
  storm_verb->add_option("--outstanding", storms.outstanding, "calls at a time");
  storm_verb->add_option("--connections", storms.connections)->check(CLI::Range(1, 1000));
  storm_verb->add_option("--accepted", storms.accepted_file, "where to write the accepted ids");
  CLI11_PARSE(app, argc, argv);

  try {
    if (submit_verb->parsed()) return submit(address, submits);
    if (latency_verb->parsed()) return latency(address, latencies);
    if (get_verb->parsed()) return get(address, gets);
    return storm(address, storms);
  } catch (const std::exception& error) {
    fmt::print(stderr, "hai_load: {}\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace hai::bench

int main(int argc, char** argv) { return hai::bench::run(argc, argv); }
