#include "tests/bench/load/connection.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "proto/convert/channel_credentials.h"
#include "proto/convert/spec_convert.h"

namespace hai::bench {

namespace {

void require(const grpc::Status& status, const char* what) {
  if (!status.ok()) throw std::runtime_error(fmt::format("{}: {}", what, status.error_message()));
}

}  // namespace

Connection::Connection(const ServerAddress& address) {
  std::ifstream file(address.token_file);
  std::string token;
  std::getline(file, token);
  if (token.empty()) throw std::runtime_error(address.token_file + ": no token there");
  authorization_ = "Bearer " + token;
  const Result<TlsTexts> tls = read_tls_files({.ca = address.ca});
  if (!tls.is_ok()) throw std::runtime_error(tls.status().message());
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a TCP connection of its own
  arguments.SetMaxReceiveMessageSize(-1);
  stub_ = v1::Api::NewStub(
      grpc::CreateCustomChannel(address.server, channel_credentials(tls.value()), arguments));
}

void Connection::authorize(grpc::ClientContext& context) const {
  context.AddMetadata("authorization", authorization_);
}

v1::SubmitJobReply Connection::submit(const v1::SubmitJobRequest& request) {
  grpc::ClientContext context;
  authorize(context);
  v1::SubmitJobReply reply;
  require(stub_->SubmitJob(&context, request, &reply), "submit");
  return reply;
}

v1::Job Connection::get(int64_t job) {
  grpc::ClientContext context;
  authorize(context);
  v1::GetJobRequest request;
  request.set_job(std::to_string(job));
  v1::Job reply;
  require(stub_->GetJob(&context, request, &reply), "get");
  return reply;
}

void Connection::stop(int64_t job) {
  grpc::ClientContext context;
  authorize(context);
  v1::ControlJobRequest request;
  request.add_jobs(std::to_string(job));
  request.set_action(v1::JOB_ACTION_STOP);
  v1::ControlJobReply reply;
  require(stub_->ControlJob(&context, request, &reply), "stop");
}

std::vector<Shape> read_shapes(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::vector<Shape> shapes;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Shape shape;
    if (!(words >> shape.nodes >> shape.seconds)) {
      throw std::runtime_error(fmt::format("{}: line {}: NODES SECONDS", path, shapes.size() + 1));
    }
    shapes.push_back(shape);
  }
  return shapes;
}

v1::SubmitJobRequest make_job(const JobOptions& options, const Shape& shape, int number) {
  v1::SubmitJobRequest request;
  request.set_request_id(fmt::format("{}-{}", options.prefix, number));
  JobSpec spec;
  spec.name = request.request_id();
  spec.priority = parse_priority(options.priority).value();
  spec.workspace = options.workspace;
  spec.entrypoint = options.entrypoint;
  const bool sleeps = options.entrypoint.ends_with("sleep");
  spec.parameters = sleeps ? std::to_string(shape.seconds) : "--config 7b.yaml";
  spec.group = "training";
  spec.node_count = shape.nodes;
  spec.gpus_per_node = options.gpus;
  if (options.begin_at_s > 0) spec.begin_at = unix_micros(options.begin_at_s * 1'000'000);
  *request.mutable_spec() = to_proto(spec);
  return request;
}

double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

}  // namespace hai::bench
