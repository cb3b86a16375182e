#include <zlib.h>

#include <algorithm>

#include "common/check.h"
#include "common/hostlist.h"
#include "hai/v1/agent.pb.h"
#include "proto/convert/agent_convert.h"
#include "proto/convert/limits.h"
#include "proto/convert/place_convert.h"

namespace hai {

void to_proto(const RankPlace& place, v1::RankPlace& out) {
  out.set_node(place.node);
  out.set_address(place.address);
  out.set_zone(place.zone);
  out.set_leaf(place.leaf);
  out.set_gpus(place.gpus);
}

Status from_proto(const v1::RankPlace& message, RankPlace& out) {
  RETURN_IF_ERROR(check_name("node of a rank", message.node(), false));
  RETURN_IF_ERROR(check_name("address of a rank", message.address(), true));
  RETURN_IF_ERROR(check_name("zone of a rank", message.zone(), true));
  RETURN_IF_ERROR(check_name("leaf of a rank", message.leaf(), true));
  RETURN_IF_ERROR(check_range("gpus of a rank", message.gpus(), 0, GpuSet::kMax));
  out = {message.node(), message.address(), message.zone(), message.leaf(), message.gpus()};
  return ok();
}

namespace {

// The places of a thousand ranks are 36 kB, in each of a thousand orders; they shrink to a
// tenth or a sixth.
// Those of few ranks are not worth it.
constexpr size_t kDeflateFrom = 2'048;
// The first byte of every zlib stream with a window of 32 kB, and of no message here.
constexpr char kZlibHead = 0x78;
// Of one place: four names (check_name), a number, and what protobuf adds.
constexpr size_t kPlaceBytesMax = 4 * (255 + 8) + 8;
constexpr size_t kPlacesBytesMax = AgentLimits::kRanksOfAttempt * kPlaceBytesMax;

std::string deflated(const std::string& bytes) {
  std::string out(compressBound(bytes.size()), '\0');
  uLongf size = out.size();
  const int result = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 1);
  CHECK(result == Z_OK && out.front() == kZlibHead);
  out.resize(size);
  return out;
}

Result<std::string> inflated(const std::string& bytes) {
  z_stream stream{};
  CHECK(inflateInit(&stream) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK && out.size() <= kPlacesBytesMax) {
    const size_t before = out.size();
    out.resize(std::max<size_t>(16 * bytes.size(), before * 2));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(out.size() - before);
    result = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    if (result == Z_OK && stream.avail_in == 0 && stream.avail_out > 0) break;  // cut off
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END) return invalid_argument("ranks cannot be inflated");
  return out;
}

std::string packed(const google::protobuf::MessageLite& message) {
  std::string bytes = message.SerializeAsString();
  return bytes.size() >= kDeflateFrom ? deflated(bytes) : bytes;
}

Status unpack(const std::string& bytes, google::protobuf::MessageLite& message) {
  const Result<std::string> plain = bytes.starts_with(kZlibHead) ? inflated(bytes) : bytes;
  RETURN_IF_ERROR(plain.status());
  return message.ParseFromString(plain.value()) ? ok() : invalid_argument("ranks cannot be read");
}

}  // namespace

const std::string& PlacesCodec::encode(const RankPlaces& places) {
  if (places_.is_of(places)) return places_.bytes;
  v1::RankPlaces message;
  for (const RankPlace& place : places) to_proto(place, *message.add_places());
  places_ = {places, packed(message), true};
  return places_.bytes;
}

Result<RankPlaces> PlacesCodec::decode(const std::string& bytes) {
  if (places_.is_set && bytes == places_.bytes) return places_.places;
  v1::RankPlaces message;
  RETURN_IF_ERROR(unpack(bytes, message));
  const auto count = static_cast<size_t>(message.places_size());
  RETURN_IF_ERROR(check_size("ranks", count, AgentLimits::kRanksOfAttempt));
  std::vector<RankPlace> places(count);
  for (size_t i = 0; i < count; ++i) {
    RETURN_IF_ERROR(from_proto(message.places(static_cast<int>(i)), places[i]));
  }
  places_ = {std::move(places), bytes, true};
  return places_.places;
}

const std::string& PlacesCodec::encode_gang(const RankPlaces& places) {
  if (gang_.is_of(places)) return gang_.bytes;
  gang_ = {places, "", true};
  std::vector<std::string> names;
  names.reserve(places.size());
  for (const RankPlace& place : places) {
    if (!is_node_name(place.node)) return gang_.bytes;
    names.push_back(place.node);
  }
  v1::Gang message;
  message.set_nodes(fold_hostlist(names));
  if (!places.empty()) message.set_master_address(places[0].address);
  if (std::ranges::any_of(places, [](const RankPlace& place) { return place.gpus > 0; })) {
    for (const RankPlace& place : places) message.add_gpus(place.gpus);
  }
  gang_.bytes = packed(message);
  return gang_.bytes;
}

Result<RankPlaces> PlacesCodec::decode_gang(const std::string& bytes) {
  if (gang_.is_set && bytes == gang_.bytes) return gang_.places;
  v1::Gang message;
  RETURN_IF_ERROR(unpack(bytes, message));
  auto names = parse_hostlist(message.nodes(), AgentLimits::kRanksOfAttempt);
  RETURN_IF_ERROR(names.status());
  const size_t count = names.value().size();
  const auto sizes = static_cast<size_t>(message.gpus_size());
  if (sizes != 0 && sizes != count) {
    return invalid_argument("a gang of {} ranks says GPUs of {}", count, sizes);
  }
  RETURN_IF_ERROR(check_name("address of rank 0", message.master_address(), true));
  std::vector<RankPlace> places(count);
  for (size_t i = 0; i < count; ++i) {
    places[i].node = std::move(names.value()[i]);
    if (sizes == 0) continue;
    places[i].gpus = message.gpus(static_cast<int>(i));
    RETURN_IF_ERROR(check_range("gpus of a rank", places[i].gpus, 0, GpuSet::kMax));
  }
  if (count > 0) places[0].address = message.master_address();
  gang_ = {std::move(places), bytes, true};
  return gang_.places;
}

}  // namespace hai
