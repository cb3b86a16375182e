#include "hai/v1/agent.pb.h"
#include "proto/convert/agent_convert.h"
#include "proto/convert/limits.h"

namespace hai {

namespace {

Status from_proto(const v1::RankPlace& message, RankPlace& out) {
  RETURN_IF_ERROR(check_name("node of a rank", message.node(), false));
  RETURN_IF_ERROR(check_name("address of a rank", message.address(), true));
  RETURN_IF_ERROR(check_name("zone of a rank", message.zone(), true));
  RETURN_IF_ERROR(check_name("leaf of a rank", message.leaf(), true));
  out = {message.node(), message.address(), message.zone(), message.leaf()};
  return ok();
}

}  // namespace

const std::string& PlacesCodec::encode(const RankPlaces& places) {
  // The copy in last_ keeps the object alive, so that being the same means being equal.
  if (!last_bytes_.empty() && last_.is_same_object(places)) return last_bytes_;
  v1::RankPlaces message;
  for (const RankPlace& place : places) {
    v1::RankPlace& out = *message.add_places();
    out.set_node(place.node);
    out.set_address(place.address);
    out.set_zone(place.zone);
    out.set_leaf(place.leaf);
  }
  last_ = places;
  last_bytes_ = message.SerializeAsString();
  return last_bytes_;
}

Result<RankPlaces> PlacesCodec::decode(const std::string& bytes) {
  if (!bytes.empty() && bytes == last_bytes_) return last_;
  v1::RankPlaces message;
  if (!message.ParseFromString(bytes)) return invalid_argument("ranks cannot be read");
  const auto count = static_cast<size_t>(message.places_size());
  RETURN_IF_ERROR(check_size("ranks", count, AgentLimits::kRanksOfAttempt));
  std::vector<RankPlace> places(count);
  for (size_t i = 0; i < count; ++i) {
    RETURN_IF_ERROR(from_proto(message.places(static_cast<int>(i)), places[i]));
  }
  last_ = std::move(places);
  last_bytes_ = bytes;
  return last_;
}

}  // namespace hai
