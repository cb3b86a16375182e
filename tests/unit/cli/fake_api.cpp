#include "tests/unit/cli/fake_api.h"

#include <grpcpp/grpcpp.h>

#include <chrono>

namespace hai::cli {
namespace {

const grpc::Status kNotScripted(grpc::StatusCode::UNIMPLEMENTED, "not scripted");

}  // namespace

FakeApi::FakeApi() {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

FakeApi::~FakeApi() { server_->Shutdown(std::chrono::system_clock::now()); }

std::string FakeApi::address() const { return "127.0.0.1:" + std::to_string(port_); }

grpc::Status FakeApi::SubmitJob(grpc::ServerContext* context, const v1::SubmitJobRequest* request,
                                v1::SubmitJobReply* reply) {
  const auto header = context->client_metadata().find("authorization");
  authorization = header == context->client_metadata().end()
                      ? ""
                      : std::string(header->second.data(), header->second.size());
  if (!stale_since.empty()) context->AddInitialMetadata("hai-stale-since", stale_since);
  if (!leader.empty()) context->AddTrailingMetadata("hai-leader", leader);
  return on_submit ? on_submit(*request, reply) : kNotScripted;
}

grpc::Status FakeApi::GetJob(grpc::ServerContext*, const v1::GetJobRequest* request,
                             v1::Job* reply) {
  return on_get_job ? on_get_job(*request, reply) : kNotScripted;
}

grpc::Status FakeApi::WatchJob(grpc::ServerContext*, const v1::WatchJobRequest* request,
                               grpc::ServerWriter<v1::Job>* writer) {
  return on_watch_job ? on_watch_job(*request, writer) : kNotScripted;
}

grpc::Status FakeApi::ReadLog(grpc::ServerContext*, const v1::ReadLogRequest* request,
                              grpc::ServerWriter<v1::ReadLogReply>* writer) {
  return on_read_log ? on_read_log(*request, writer) : kNotScripted;
}

}  // namespace hai::cli
