#pragma once
// What hai_load can do. Each prints one JSON object and returns the exit code.

#include <string>

#include "tests/bench/load/connection.h"

namespace hai::bench {

struct SubmitOptions {
  JobOptions job;
  int clients = 16;
  int jobs = 100'000;
  int batch = 1;
  int nodes = 1;
  std::string shapes_file;  // instead of jobs and nodes
};
int submit(const ServerAddress& address, SubmitOptions options);

struct LatencyOptions {
  JobOptions job;
  int tries = 50;
  int nodes = 1;
};
int latency(const ServerAddress& address, const LatencyOptions& options);

struct GetOptions {
  int tries = 1'000;
  int64_t first = 1;
  int64_t last = 1;
};
// The state of random jobs between two ids.
int get(const ServerAddress& address, const GetOptions& options);

struct StormOptions {
  JobOptions job;
  int seconds = 10;
  int outstanding = 20'000;
  int connections = 16;
  std::string accepted_file;  // ids of the acknowledged jobs, one a line
};
int storm(const ServerAddress& address, const StormOptions& options);

}  // namespace hai::bench
