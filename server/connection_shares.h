#pragma once
// How many connections each port may have, so that both together leave enough of the files that the
// process may open for the database, logs and whatever it reads.

#include <algorithm>
#include <cstddef>

namespace hai {

struct ConnectionShares {
  size_t http = 0;
  size_t grpc = 0;
};

inline ConnectionShares connection_shares(long open_files) {
  const auto most = static_cast<size_t>(std::max(open_files, 64L));
  const size_t left = most - std::min<size_t>(most / 4, 1'000);
  return {.http = std::min<size_t>(left / 3, 12'000),
          .grpc = std::min<size_t>(left * 2 / 3, 100'000)};
}

}  // namespace hai
