#include "proto/convert/server_time.h"

#include <charconv>
#include <string_view>

namespace hai {

Duration clock_ahead(UnixTime asked, UnixTime answered, UnixTime server) {
  if (server < asked) return asked - server;
  if (server > answered) return answered - server;
  return Duration(0);
}

std::optional<Duration> clock_ahead(UnixTime asked, UnixTime answered,
                                    const grpc::ClientContext& finished) {
  const auto& metadata = finished.GetServerTrailingMetadata();
  const auto found = metadata.find(kServerTimeKey);
  if (found == metadata.end()) return std::nullopt;
  const std::string_view text(found->second.data(), found->second.size());
  int64_t micros = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), micros);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return clock_ahead(asked, answered, unix_micros(micros));
}

}  // namespace hai
