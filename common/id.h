#pragma once
// Strong integer ids, and the key of one rank of one attempt of one job.

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace hai {

template <typename Tag>
struct Id {
  int64_t value = 0;  // 0 means none; real ids start at 1.
  auto operator<=>(const Id&) const = default;
  explicit operator bool() const { return value != 0; }
};

using JobId = Id<struct JobTag>;
using NodeId = Id<struct NodeTag>;
// Number of the leading server; grows with each take-over.
using Epoch = Id<struct EpochTag>;
using ConnectionId = Id<struct ConnectionTag>;  // one agent stream, unique within a server process

struct RankKey {
  JobId job;
  int attempt = 0;
  int rank = 0;
  auto operator<=>(const RankKey&) const = default;
};

std::string to_string(const RankKey& key);  // "17.2.0" = job 17, attempt 2, rank 0

}  // namespace hai

template <typename Tag>
struct std::hash<hai::Id<Tag>> {
  size_t operator()(const hai::Id<Tag>& id) const { return std::hash<int64_t>()(id.value); }
};
