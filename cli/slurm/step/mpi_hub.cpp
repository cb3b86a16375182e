#include "cli/slurm/step/mpi_hub.h"

#include <algorithm>

namespace hai::cli::slurm {
namespace {

// A program has one for each of its communicators at most, and a thread of its own for it.
constexpr size_t kFencesMax = 1'024;

}  // namespace

MpiHub::MpiHub(std::vector<int> tasks_by_node) : tasks_by_node_(std::move(tasks_by_node)) {
  for (size_t node = 0; node < tasks_by_node_.size(); ++node) {
    unready_.insert(static_cast<int>(node));
  }
}

Result<std::vector<MpiHub::Outgoing>> MpiHub::take(int node, const MpiMessage& message) {
  switch (message.kind) {
    case MpiKind::ready:
      return on_ready(node);
    case MpiKind::fence:
      return on_fence(node, message);
    case MpiKind::ask: {
      const int target = node_of_rank(tasks_by_node_, message.rank);
      if (target < 0) return invalid_argument("MPI asks for rank {}", message.rank);
      MpiMessage question = message;
      question.node = node;
      return std::vector<Outgoing>{{target, std::move(question)}};
    }
    case MpiKind::answer:
      if (static_cast<size_t>(message.node) >= tasks_by_node_.size()) {
        return invalid_argument("MPI answers node {}", message.node);
      }
      return std::vector<Outgoing>{{message.node, message}};
    case MpiKind::setup:
    case MpiKind::go:
    case MpiKind::fence_done:
    case MpiKind::lost:
    case MpiKind::abort:
    case MpiKind::failed:
      break;
  }
  return invalid_argument("a message of MPI that is not for the host");
}

Result<std::vector<MpiHub::Outgoing>> MpiHub::on_ready(int node) {
  std::vector<Outgoing> out;
  if (unready_.erase(node) == 0 || !unready_.empty()) return out;
  for (size_t each = 0; each < tasks_by_node_.size(); ++each) {
    out.push_back({static_cast<int>(each), {.kind = MpiKind::go}});
  }
  return out;
}

// The oldest one of these ranks that this node has not come to yet, or a new one.
Result<MpiHub::Fence*> MpiHub::fence_for(int node, const std::vector<int>& ranks) {
  for (Fence& fence : fences_) {
    if (fence.ranks == ranks && fence.missing.contains(node)) return &fence;
  }
  if (fences_.size() >= kFencesMax) return resource_exhausted("{} fences of MPI", kFencesMax);
  Fence fence;
  fence.ranks = ranks;
  for (const int rank : ranks) fence.missing.insert(node_of_rank(tasks_by_node_, rank));
  if (ranks.empty()) {
    for (size_t each = 0; each < tasks_by_node_.size(); ++each) {
      fence.missing.insert(static_cast<int>(each));
    }
  }
  if (fence.missing.contains(-1) || !fence.missing.contains(node)) {
    return invalid_argument("a fence of MPI over ranks that are not there");
  }
  fences_.push_back(std::move(fence));
  return &fences_.back();
}

Result<std::vector<MpiHub::Outgoing>> MpiHub::on_fence(int node, const MpiMessage& message) {
  const Result<Fence*> found = fence_for(node, message.ranks);
  RETURN_IF_ERROR(found.status());
  Fence& fence = *found.value();
  fence.missing.erase(node);
  fence.came[node] = message.id;
  if (fence.status == 0) fence.status = message.status;
  if (fence.data.size() + message.data.size() > kMpiBytesMax) {
    return resource_exhausted("what MPI's tasks tell each other at their start exceeds {} bytes",
                              kMpiBytesMax);
  }
  fence.data += message.data;
  std::vector<Outgoing> out;
  if (!fence.missing.empty()) return out;
  for (const auto& [each, id] : fence.came) {
    out.push_back(
        {each,
         {.kind = MpiKind::fence_done, .id = id, .status = fence.status, .data = fence.data}});
  }
  fences_.erase(fences_.begin() + (&fence - fences_.data()));
  return out;
}

bool MpiHub::note_lost(int rank) {
  if (node_of_rank(tasks_by_node_, rank) >= 0) lost_.insert(rank);
  return ended_.contains(rank);
}

bool MpiHub::note_ended(int rank) {
  if (node_of_rank(tasks_by_node_, rank) >= 0) ended_.insert(rank);
  return lost_.contains(rank);
}

}  // namespace hai::cli::slurm
