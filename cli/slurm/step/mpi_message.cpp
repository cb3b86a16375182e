#include "cli/slurm/step/mpi_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "common/whole_number.h"

namespace hai::cli::slurm {
namespace {

Status bad(std::string_view what) { return invalid_argument("a message of MPI with bad {}", what); }

// "0,2,3", from low to high without repetition.
Result<std::vector<int>> parse_ranks(std::string_view text) {
  std::vector<int> ranks;
  while (!text.empty()) {
    int rank = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    const bool is_fine = error == std::errc() && rank >= 0 && rank < kMpiTasksMax &&
                         (ranks.empty() || rank > ranks.back());
    if (!is_fine) return bad("ranks");
    ranks.push_back(rank);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) break;
    if (text.front() != ',' || text.size() == 1) return bad("ranks");
    text.remove_prefix(1);
  }
  return ranks;
}

}  // namespace

std::string encode_mpi(const MpiMessage& message) {
  return pack({std::to_string(static_cast<int>(message.kind)), std::to_string(message.id),
               std::to_string(message.node), std::to_string(message.rank),
               std::to_string(message.status), fmt::format("{}", fmt::join(message.ranks, ",")),
               message.data});
}

Result<MpiMessage> decode_mpi(std::string_view body) {
  auto unpacked = unpack(body);
  RETURN_IF_ERROR(unpacked.status());
  std::vector<std::string>& texts = unpacked.value();
  if (texts.size() != 7) return bad("parts");
  const auto kind = whole_number<int>(texts[0]);
  const auto id = whole_number<uint32_t>(texts[1]);
  const auto node = whole_number<int>(texts[2]);
  const auto rank = whole_number<int>(texts[3]);
  const auto status = whole_number<int>(texts[4]);
  if (!kind || !id || !node || !rank || !status) return bad("numbers");
  const bool is_known =
      *kind >= static_cast<int>(MpiKind::setup) && *kind <= static_cast<int>(MpiKind::failed);
  const bool is_small = *node >= 0 && *node < kMpiTasksMax && *rank >= 0 && *rank < kMpiTasksMax;
  if (!is_known || !is_small) return bad("numbers");
  Result<std::vector<int>> ranks = parse_ranks(texts[5]);
  RETURN_IF_ERROR(ranks.status());
  return MpiMessage{.kind = static_cast<MpiKind>(*kind),
                    .id = *id,
                    .node = *node,
                    .rank = *rank,
                    .status = *status,
                    .ranks = std::move(ranks.value()),
                    .data = std::move(texts[6])};
}

std::string encode_setup(const MpiSetup& setup) {
  std::vector<std::string> counts;
  for (const int count : setup.tasks_by_node) counts.push_back(std::to_string(count));
  return pack({setup.space, setup.directory, std::to_string(setup.node_index), pack(setup.nodes),
               pack(counts)});
}

Result<MpiSetup> decode_setup(std::string_view body) {
  auto texts = unpack(body);
  RETURN_IF_ERROR(texts.status());
  if (texts.value().size() != 5) return bad("parts");
  MpiSetup setup = {.space = texts.value()[0], .directory = texts.value()[1]};
  auto nodes = unpack(texts.value()[3]);
  RETURN_IF_ERROR(nodes.status());
  const auto counts = unpack(texts.value()[4]);
  RETURN_IF_ERROR(counts.status());
  setup.nodes = std::move(nodes.value());
  int64_t all = 0;
  for (const std::string& text : counts.value()) {
    const auto count = whole_number<int>(text);
    if (!count || *count < 1 || *count > kMpiTasksMax) return bad("numbers");
    setup.tasks_by_node.push_back(*count);
    all += *count;
  }
  const auto node = whole_number<int>(texts.value()[2]);
  const bool is_fine = node && *node >= 0 && static_cast<size_t>(*node) < setup.nodes.size() &&
                       setup.nodes.size() == setup.tasks_by_node.size() && all <= kMpiTasksMax;
  if (!is_fine || setup.space.empty()) return bad("numbers");
  setup.node_index = *node;
  return setup;
}

std::string node_text(const MpiSetup& setup) {
  return fmt::format("{}", fmt::join(setup.nodes, ","));
}

std::string rank_text(const MpiSetup& setup) {
  std::string text;
  for (size_t node = 0; node < setup.tasks_by_node.size(); ++node) {
    if (node > 0) text += ';';
    text += ranks_on(setup.tasks_by_node, static_cast<int>(node));
  }
  return text;
}

std::string ranks_on(const std::vector<int>& tasks_by_node, int node) {
  std::vector<int> ranks(static_cast<size_t>(tasks_by_node[static_cast<size_t>(node)]));
  std::iota(ranks.begin(), ranks.end(), first_rank_of(tasks_by_node, node));
  return fmt::format("{}", fmt::join(ranks, ","));
}

int first_rank_of(const std::vector<int>& tasks_by_node, int node) {
  return std::accumulate(tasks_by_node.begin(), tasks_by_node.begin() + node, 0);
}

int node_of_rank(const std::vector<int>& tasks_by_node, int rank) {
  if (rank < 0) return -1;
  for (size_t node = 0; node < tasks_by_node.size(); ++node) {
    rank -= tasks_by_node[node];
    if (rank < 0) return static_cast<int>(node);
  }
  return -1;
}

}  // namespace hai::cli::slurm
