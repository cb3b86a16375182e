#pragma once
// The ranks of a job as a ring of TCP connections, and the all-reduce over it: no library, no GPU,
// so that it also tells whether a node's plain network works. Rank 0 listens on the job's
// MASTER_PORT; the others tell it where they listen; each gets the list and connects to the next.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "validator/ring/sockets.h"
#include "validator/test.h"

namespace hai::validator {

class Ring {
 public:
  // unavailable or deadline_exceeded with the ranks that did not come.
  static Result<Ring> join(const Place& place, Duration patience);

  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(nodes_.size()); }
  const std::vector<std::string>& nodes() const { return nodes_; }  // by rank

  // Adds up, modulo 2^32, what the ranks have at each index; afterwards all have the sums. All
  // ranks must come with the same size.
  Status all_reduce(std::span<uint32_t> values, Duration patience);

 private:
  Ring(int rank, std::vector<std::string> nodes, UniqueFd left, UniqueFd right)
      : rank_(rank), nodes_(std::move(nodes)), left_(std::move(left)), right_(std::move(right)) {}

  int rank_ = 0;
  std::vector<std::string> nodes_;
  UniqueFd left_;   // from the rank before
  UniqueFd right_;  // to the rank after
  std::vector<uint32_t> received_;
};

}  // namespace hai::validator
