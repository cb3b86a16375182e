#include "validator/place.h"

#include <charconv>

namespace hai::validator {

namespace {

Status read_number(const GetVariable& get, const char* name, int* number) {
  const std::string text = get(name);
  if (text.empty()) return ok();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  if (error != std::errc() || end != text.data() + text.size())
    return invalid_argument("{}={} is no number", name, text);
  return ok();
}

}  // namespace

Result<Place> read_place(const GetVariable& get, const std::string& host_name) {
  Place place{.node = get("HAI_NODE_NAME")};
  if (place.node.empty()) place.node = host_name;
  if (!get("HAI_JOB_ID").empty()) place.job = get("HAI_JOB_ID");
  if (!get("HAI_ATTEMPT").empty()) place.attempt = get("HAI_ATTEMPT");
  RETURN_IF_ERROR(read_number(get, "HAI_NODE_RANK", &place.rank));
  RETURN_IF_ERROR(read_number(get, "HAI_NNODES", &place.ranks));
  RETURN_IF_ERROR(read_number(get, "MASTER_PORT", &place.master_port));
  int local_size = 1;
  RETURN_IF_ERROR(read_number(get, "LOCAL_WORLD_SIZE", &local_size));
  place.master_address = get("MASTER_IP");
  if (place.master_address.empty()) place.master_address = get("MASTER_ADDR");
  if (local_size > 1)
    return invalid_argument("{} processes per node: launch one (options.launch: per_node)",
                            local_size);
  if (place.ranks < 1 || place.rank < 0 || place.rank >= place.ranks)
    return invalid_argument("HAI_NODE_RANK={} of HAI_NNODES={}", place.rank, place.ranks);
  if (place.ranks > 1 && (place.master_address.empty() || place.master_port <= 0))
    return invalid_argument("HAI_NNODES={} needs MASTER_ADDR and MASTER_PORT", place.ranks);
  return place;
}

}  // namespace hai::validator
