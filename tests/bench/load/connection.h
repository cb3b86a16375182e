#pragma once
// A client's connection to hai-server, and the jobs that benches submit. Any thread may use a
// connection; each has its own TCP connection.

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "hai/v1/api.grpc.pb.h"

namespace hai::bench {

struct ServerAddress {
  std::string server = "127.0.0.1:7700";
  std::string token_file;
  std::string ca = {};  // file: over TLS; "" = plain text
};

class Connection {
 public:
  explicit Connection(const ServerAddress& address);

  v1::Api::Stub& api() { return *stub_; }
  void authorize(grpc::ClientContext& context) const;

  // One call to its end; a failed one throws std::runtime_error with the server's words.
  v1::SubmitJobReply submit(const v1::SubmitJobRequest& request);
  v1::Job get(int64_t job);
  void stop(int64_t job);

 private:
  std::string authorization_;
  std::unique_ptr<v1::Api::Stub> stub_;
};

// How big a job is and how long its program sleeps.
struct Shape {
  int nodes = 1;
  int seconds = 0;
};
// Lines of "NODES SECONDS"; what follows on a line does not count.
std::vector<Shape> read_shapes(const std::string& path);

struct JobOptions {
  std::string prefix = "bench";
  std::string priority = "normal";
  std::string entrypoint = "train.py";
  std::string workspace = "/tmp";
  int gpus = 0;            // per node; 0 = whole nodes
  int64_t begin_at_s = 0;  // Unix time; 0 = at once
};
// Number `number` of a run: its name and request_id are unique in it.
v1::SubmitJobRequest make_job(const JobOptions& options, const Shape& shape, int number);

// Sorts `values`.
double quantile(std::vector<double>& values, double share);

}  // namespace hai::bench
