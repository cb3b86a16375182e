// Log requests and chunks.

#include <limits>

#include "hai/v1/agent.pb.h"
#include "proto/convert/agent_convert.h"
#include "proto/convert/limits.h"
#include "proto/convert/rank_key_convert.h"

namespace hai {

void to_proto(int64_t request_id, const LogRequest& request, v1::ReadLog& out) {
  out.set_request_id(request_id);
  to_proto(request.key, *out.mutable_key());
  out.set_offset(request.offset);
  out.set_max_bytes(request.max_bytes);
  out.set_tail_bytes(request.tail_bytes);
  out.set_wait_us(request.wait.count());
}

Result<LogRequest> from_proto(const v1::ReadLog& message) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  LogRequest request;
  RETURN_IF_ERROR(from_proto(message.key(), request.key));
  RETURN_IF_ERROR(check_range("offset", message.offset(), 0, kMax));
  RETURN_IF_ERROR(check_range("max_bytes", message.max_bytes(), 1, kMaxLogChunkBytes));
  RETURN_IF_ERROR(check_range("tail_bytes", message.tail_bytes(), 0, kMax));
  RETURN_IF_ERROR(check_range("wait_us", message.wait_us(), 0, kMaxLogWait.count()));
  request.offset = message.offset();
  request.max_bytes = message.max_bytes();
  request.tail_bytes = message.tail_bytes();
  request.wait = Duration(message.wait_us());
  return request;
}

void to_proto(int64_t request_id, const LogChunk& chunk, v1::LogChunk& out) {
  out.set_request_id(request_id);
  out.set_data(chunk.data);
  out.set_offset(chunk.offset);
  out.set_next_offset(chunk.next_offset);
  out.set_end(chunk.end);
  out.set_error(chunk.error);
}

Result<LogChunk> from_proto(const v1::LogChunk& message) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  RETURN_IF_ERROR(
      check_size("log data", message.data().size(), static_cast<size_t>(kMaxLogChunkBytes)));
  RETURN_IF_ERROR(check_size("log error", message.error().size(), AgentLimits::kTextBytes));
  RETURN_IF_ERROR(check_range("offset", message.offset(), 0, kMax));
  RETURN_IF_ERROR(check_range("next_offset", message.next_offset(), message.offset(), kMax));
  return LogChunk{.data = message.data(),
                  .offset = message.offset(),
                  .next_offset = message.next_offset(),
                  .end = message.end(),
                  .error = message.error()};
}

}  // namespace hai
