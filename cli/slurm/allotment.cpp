#include "cli/slurm/allotment.h"

#include <algorithm>

#include "cli/client.h"
#include "cli/node_list.h"

namespace hai::cli::slurm {
namespace {

struct Host {
  int64_t cpus = 0;
  int64_t memory_bytes = 0;
};

// As the server counts: each GPU brings its part along, unless the job asks for more or less; all
// GPUs of a node bring all of it; without GPUs the CPUs bring their part of the memory.
Host host_of_rank(const v1::Job& job, int gpus, const v1::Node& node) {
  int64_t cpus = job.spec().cpus_per_node();
  int64_t memory = job.spec().memory_per_node_bytes();
  if (gpus == 0) {
    cpus = std::max<int64_t>(1, cpus);
    const int64_t of_one = node.cpus() == 0 ? 0 : node.memory_bytes() / node.cpus();
    return {cpus, memory > 0 ? memory : of_one * std::min<int64_t>(cpus, node.cpus())};
  }
  const int64_t all = std::max(gpus, node.gpus());
  if (gpus == all) cpus = memory = 0;
  return {cpus > 0 ? cpus : int64_t{node.cpus()} * gpus / all,
          memory > 0 ? memory : node.memory_bytes() / all * gpus};
}

}  // namespace

Result<NodeBook> book_of_nodes(Client& client) {
  const Result<std::vector<v1::Node>> nodes = all_nodes(client);
  RETURN_IF_ERROR(nodes.status());
  NodeBook book;
  for (const v1::Node& node : nodes.value()) book[node.name()] = node;
  return book;
}

Allotment allotment_of(const v1::Job& job, const v1::Attempt& attempt, const NodeBook& nodes) {
  Allotment given;
  bool is_known = job.has_spec();  // else what it asks for is not
  for (const v1::RankInfo& rank : attempt.ranks()) {
    given.gpus += rank.gpus_size();
    const auto node = nodes.find(rank.node());
    is_known = is_known && node != nodes.end();
    if (!is_known) continue;
    const Host host = host_of_rank(job, rank.gpus_size(), node->second);
    given.cpus += host.cpus;
    given.memory_bytes += host.memory_bytes;
  }
  if (!is_known) given.cpus = given.memory_bytes = 0;  // or a node has left the cluster
  return given;
}

Allotment allotment_of(const v1::Job& job, const NodeBook& nodes) {
  v1::Attempt attempt;
  for (const std::string& name : job.nodes()) {
    const auto node = nodes.find(name);
    const int whole = node == nodes.end() ? 0 : node->second.gpus();
    const int asked = job.spec().gpus_per_node();
    v1::RankInfo& rank = *attempt.add_ranks();
    rank.set_node(name);
    for (int gpu = 0; gpu < (asked == 0 ? whole : asked); ++gpu) rank.add_gpus(gpu);
  }
  return allotment_of(job, attempt, nodes);
}

std::optional<Allotment> fill_from_attempt(Client& client, const NodeBook& nodes, v1::Job& job) {
  if (job.attempt() == 0) return std::nullopt;
  v1::ListAttemptsRequest request;
  request.set_job(std::to_string(job.id()));
  request.set_page_size(1);
  const Result<v1::ListAttemptsReply> attempts = client.list_attempts(request);
  if (!attempts.is_ok() || attempts.value().attempts_size() == 0) return std::nullopt;
  const v1::Attempt& last = attempts.value().attempts(0);
  if (job.nodes_size() == 0) {
    for (const v1::RankInfo& rank : last.ranks()) job.add_nodes(rank.node());
  }
  return allotment_of(job, last, nodes);
}

}  // namespace hai::cli::slurm
