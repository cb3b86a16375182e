#pragma once
// What every call needs besides its request: the loop it runs on, and how the server stands, which
// goes into the metadata. Trailing, with UNAVAILABLE: `hai-leader`, where the leader is reached,
// and `hai-mode`, what this server does instead, if waiting for a leader helps. Initial:
// `hai-stale-since`, the answer is of then, RFC 3339. Trailing, with RESOURCE_EXHAUSTED of a server
// that has too much to do: `retry-after-ms`. Trailing, always: `hai-time-us`, the server's clock.

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>

#include "common/loop.h"
#include "proto/convert/server_time.h"
#include "server/api/admission.h"
#include "server/api/audit_trail.h"
#include "server/api/call_queue.h"
#include "server/api/caller_board.h"
#include "server/api/failure_limit.h"
#include "server/api/open_streams.h"
#include "server/api/request_meter.h"
#include "server/api/standing_board.h"
#include "server/rpc/known_peers.h"
#include "server/rpc/unread_calls.h"

namespace hai {

inline constexpr const char* kLeaderKey = "hai-leader";
inline constexpr const char* kModeKey = "hai-mode";
inline constexpr const char* kRetryAfterKey = "retry-after-ms";
inline constexpr const char* kStaleKey = "hai-stale-since";

struct CallSite {
  Loop& loop;
  const StandingBoard& standing;
  const CallerBoard& callers;
  Admission& admission;
  CallQueue& queue;  // the way to the loop for what people ask
  RequestMeter& meter;
  OpenStreams& streams;
  AuditTrail& audit;
  KnownPeers& known;  // connections of people whose token is known
  UnreadCalls& unread;
  FailureLimit& failures;  // of those who sign in or join
};

// Who calls, by "Bearer TOKEN"; nobody if there is none.
Caller caller_of(std::string_view authorization);
// The same, by the metadata.
Caller caller_of(const grpc::CallbackServerContext& context);

inline Status admit(const CallSite& site, const grpc::CallbackServerContext& context,
                    const Caller& caller) {
  if (site.callers.knows(caller)) site.known.note(context.peer());
  return site.callers.admit(caller);
}

// Tells the audit log how a call has ended, before gRPC is told.
inline void note(const CallSite& site, const std::string& peer, std::string_view method,
                 const Caller& caller, AuditFacts facts, const Status& status) {
  site.audit.note(
      {.caller = caller, .address = host_of_peer(peer), .name = method, .facts = std::move(facts)},
      status);
}

// Before the call is finished with `status`, or its first message is sent.
inline void add_standing(const StandingBoard& board, grpc::CallbackServerContext& context,
                         const grpc::Status& status) {
  const auto clock = std::chrono::system_clock::now().time_since_epoch();
  context.AddTrailingMetadata(kServerTimeKey,
                              std::to_string(std::chrono::duration_cast<Duration>(clock).count()));
  const Standing standing = board.get();
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    if (!standing.leader.grpc.empty())
      context.AddTrailingMetadata(kLeaderKey, standing.leader.grpc);
    if (!standing.store_is_away) {
      context.AddTrailingMetadata(kModeKey, std::string(to_string(standing.mode)));
    }
  }
  if (status.ok() && standing.stale_since) {
    context.AddInitialMetadata(kStaleKey, format_rfc3339(*standing.stale_since));
  }
}

}  // namespace hai
