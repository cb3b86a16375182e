// Streams: logs, changes of a job, events.

#include "server/api/audit_words.h"
#include "server/api/event_tail.h"
#include "server/api/job_tail.h"
#include "server/api/log_router.h"
#include "server/api/messages.h"
#include "server/rpc/api_service.h"
#include "server/rpc/source_stream.h"

namespace hai {

namespace {

using LogStream = SourceStream<v1::ReadLogReply>;

// Why a log does not come from its node, and up to when it is there; no time = to its end.
constexpr const char* kLogSourceKey = "hai-log-source";
constexpr const char* kLogUntilKey = "hai-log-until";

}  // namespace

grpc::ServerWriteReactor<v1::ReadLogReply>* ApiService::ReadLog(
    grpc::CallbackServerContext* context, const v1::ReadLogRequest* request) {
  const Result<LogTailRequest> read = log_tail_of(*request);
  const auto remarks = std::make_shared<LogStream::Remarks>();
  auto open = [this, caller = caller_of(*context), read, remarks]() -> Source<LogStream::Batch> {
    if (!read.is_ok()) {
      return [why = read.status()](Done<std::optional<LogStream::Batch>> done) { done(why); };
    }
    const LogTailRequest& tail = read.value();
    const auto kind = tail.follow ? OpenStreams::Kind::log : OpenStreams::Kind::other;
    return convert_source<v1::ReadLogReply>(
        GuardedSource<LogPiece>::make(site_.streams, caller, kind,
                                      tail_log(site_.loop, queries_, logs_, caller, tail), Sight{}),
        [remarks](const LogPiece& piece) {
          if (!piece.source.empty()) remarks->emplace_back(kLogSourceKey, piece.source);
          if (piece.until) remarks->emplace_back(kLogUntilKey, format_rfc3339(*piece.until));
          std::vector<v1::ReadLogReply> batch(1);
          to_proto(piece, batch[0]);
          return batch;
        });
  };
  AuditFacts facts;
  tell_request(*request, facts);
  return LogStream::start(site_, "ReadLog", context, std::move(open), std::move(facts), remarks);
}

grpc::ServerWriteReactor<v1::Job>* ApiService::WatchJob(grpc::CallbackServerContext* context,
                                                        const v1::WatchJobRequest* request) {
  auto open = [this, caller = caller_of(*context), job = request->job()] {
    return convert_source<v1::Job>(
        GuardedSource<JobView>::make(site_.streams, caller, OpenStreams::Kind::other,
                                     tail_job(queries_, caller, job)),
        [](const JobView& view) {
          std::vector<v1::Job> batch(1);
          to_proto(view, WithSpec::yes, batch[0]);
          return batch;
        });
  };
  AuditFacts facts;
  tell_request(*request, facts);
  return SourceStream<v1::Job>::start(site_, "WatchJob", context, std::move(open),
                                      std::move(facts));
}

grpc::ServerWriteReactor<v1::Event>* ApiService::WatchEvents(
    grpc::CallbackServerContext* context, const v1::WatchEventsRequest* request) {
  EventTailRequest tail{.job = request->job(),
                        .node = request->node(),
                        .kinds = {request->kinds().begin(), request->kinds().end()},
                        .after_seq = request->after_seq()};
  auto open = [this, caller = caller_of(*context), tail = std::move(tail)] {
    return convert_source<v1::Event>(GuardedSource<std::vector<EventView>>::make(
                                         site_.streams, caller, OpenStreams::Kind::other,
                                         tail_events(site_.loop, queries_, caller, tail)),
                                     [](const std::vector<EventView>& events) {
                                       std::vector<v1::Event> batch(events.size());
                                       for (size_t i = 0; i < events.size(); ++i)
                                         to_proto(events[i], batch[i]);
                                       return batch;
                                     });
  };
  return SourceStream<v1::Event>::start(site_, "WatchEvents", context, std::move(open));
}

}  // namespace hai
