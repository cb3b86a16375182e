#pragma once
// A hai-server that answers from a script, over real gRPC on a port of its own.

#include <functional>
#include <memory>
#include <string>

#include "hai/v1/api.grpc.pb.h"

namespace hai::cli {

class FakeApi : public v1::Api::Service {
 public:
  FakeApi();
  ~FakeApi() override;
  std::string address() const;  // host:port

  // What the calls do; a missing one answers UNIMPLEMENTED.
  std::function<grpc::Status(const v1::SubmitJobRequest&, v1::SubmitJobReply*)> on_submit;
  std::string leader;       // named with every UNAVAILABLE
  std::string stale_since;  // said with every answer
  std::function<grpc::Status(const v1::GetJobRequest&, v1::Job*)> on_get_job;
  std::function<grpc::Status(const v1::WatchJobRequest&, grpc::ServerWriter<v1::Job>*)>
      on_watch_job;
  std::function<grpc::Status(const v1::ReadLogRequest&, grpc::ServerWriter<v1::ReadLogReply>*)>
      on_read_log;
  std::string authorization;  // of the latest call of SubmitJob

 private:
  grpc::Status SubmitJob(grpc::ServerContext* context, const v1::SubmitJobRequest* request,
                         v1::SubmitJobReply* reply) override;
  grpc::Status GetJob(grpc::ServerContext* context, const v1::GetJobRequest* request,
                      v1::Job* reply) override;
  grpc::Status WatchJob(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                        grpc::ServerWriter<v1::Job>* writer) override;
  grpc::Status ReadLog(grpc::ServerContext* context, const v1::ReadLogRequest* request,
                       grpc::ServerWriter<v1::ReadLogReply>* writer) override;

  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace hai::cli
