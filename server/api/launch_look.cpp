#include "server/api/launch_look.h"

#include "common/image.h"

namespace hai {

bool wants_look(const JobSpec& spec) {
  if (spec.image.empty()) return false;
  if (!spec.program.mounts.empty()) return true;
  const Result<ImageName> image = parse_image(spec.image);
  return image.is_ok() && image.value().kind != ImageName::Kind::registry;
}

std::vector<std::string> words_of_look(const JobSpec& spec, const std::string& user) {
  std::vector<std::string> words = {"look", "--user=" + user, "--image=" + spec.image};
  for (const std::string& mount : spec.program.mounts) words.push_back("--mount=" + mount);
  return words;
}

std::string node_to_look_at(const ClusterState& state, const JobSpec& spec) {
  for (const auto& [id, node] : state.nodes()) {
    const NodeFacts& facts = node.facts;
    const bool is_of_group = facts.group == spec.group;
    const bool is_of_zone = spec.zone.empty() || facts.zone == spec.zone;
    if (is_of_group && is_of_zone && node.takes_jobs() && spec.node_filter.takes(facts))
      return facts.name;
  }
  return "";
}

}  // namespace hai
