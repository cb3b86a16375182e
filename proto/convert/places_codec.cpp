#include <zlib.h>

#include <algorithm>

#include "common/check.h"
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
  RETURN_IF_ERROR(check_range("gpus of a rank", message.gpus(), 0, GpuSet::kMax));
  out = {message.node(), message.address(), message.zone(), message.leaf(), message.gpus()};
  return ok();
}

// The places of a thousand ranks are 36 kB, in each of a thousand orders; they shrink to a
// tenth or a sixth.
// Those of few ranks are not worth it.
constexpr size_t kDeflateFrom = 2'048;
// The first byte of every zlib stream with a window of 32 kB, and of no RankPlaces.
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
    out.set_gpus(place.gpus);
  }
  last_ = places;
  last_bytes_ = message.SerializeAsString();
  if (last_bytes_.size() >= kDeflateFrom) last_bytes_ = deflated(last_bytes_);
  return last_bytes_;
}

Result<RankPlaces> PlacesCodec::decode(const std::string& bytes) {
  if (!bytes.empty() && bytes == last_bytes_) return last_;
  v1::RankPlaces message;
  const Result<std::string> plain = bytes.starts_with(kZlibHead) ? inflated(bytes) : bytes;
  RETURN_IF_ERROR(plain.status());
  if (!message.ParseFromString(plain.value())) return invalid_argument("ranks cannot be read");
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
