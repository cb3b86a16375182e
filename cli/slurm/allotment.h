#pragma once
// What a job was given in its last attempt. Attempts keep nodes and GPUs; CPUs and memory follow
// from these, what the job asks for and what the nodes have (docs/design/0010-cpus-and-memory.md).

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/status.h"
#include "hai/v1/types.pb.h"

namespace hai::cli {
class Client;
}

namespace hai::cli::slurm {

struct Allotment {
  int gpus = 0;              // of all ranks
  int64_t cpus = 0;          // likewise; 0 = not known
  int64_t memory_bytes = 0;  // likewise
  bool operator==(const Allotment&) const = default;
};

using NodeBook = std::map<std::string, v1::Node>;
Result<NodeBook> book_of_nodes(Client& client);

Allotment allotment_of(const v1::Job& job, const v1::Attempt& attempt, const NodeBook& nodes);

// Of a job that has its nodes, without asking for its attempt.
Allotment allotment_of(const v1::Job& job, const NodeBook& nodes);

// Nothing if it has had no attempt. Jobs that have ended have no nodes of their own any more: those
// of the attempt are filled in.
std::optional<Allotment> fill_from_attempt(Client& client, const NodeBook& nodes, v1::Job& job);

}  // namespace hai::cli::slurm
