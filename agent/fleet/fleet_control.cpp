#include "agent/fleet/fleet_control.h"

#include <fmt/format.h>

#include "common/log.h"
#include "common/shell_words.h"

namespace hai {

namespace {

constexpr std::string_view kHelp =
    "kill NODES, silence NODES, slow-launch NODES TIME, fail-launch NODES [WHY], restore NODES, "
    "status, help; NODES: all, random:N, zone:Z, leaf:L or names as in node-[0001-0010]";

Result<std::string> one_line(const Result<std::string>& answer) {
  RETURN_IF_ERROR(answer.status());
  std::string text = answer.value();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

void restore(FleetNode& node) {
  node.set_silent(false);
  node.launch_habit() = {};
  node.start();
}

}  // namespace

std::string FleetControl::execute(std::string_view line) {
  const Result<std::vector<std::string>> words = split_parameters(line);
  const Result<std::string> answer =
      words.is_ok() ? one_line(run(words.value())) : Result<std::string>(words.status());
  log_info("fleet_told", {{"command", std::string(line)}, {"result", answer.status()}});
  return answer.is_ok() ? "ok " + answer.value() : "error " + answer.status().message();
}

Result<std::string> FleetControl::run(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "help" : words[0];
  if (verb == "help") return std::string(kHelp);
  if (verb == "status") return status();
  const bool has_more = verb == "slow-launch" || verb == "fail-launch";
  if (!has_more && verb != "kill" && verb != "silence" && verb != "restore") {
    return invalid_argument("{}: unknown; known are {}", verb, kHelp);
  }
  if (words.size() < 2) return invalid_argument("{}: of which nodes? {}", verb, kHelp);
  const size_t words_max = verb == "fail-launch" ? kWordsMax : has_more ? 3 : 2;
  if (words.size() > words_max) return invalid_argument("{}: too many words", verb);
  const std::string why = fmt::format("{}", fmt::join(words.begin() + 2, words.end(), " "));
  Duration delay{0};
  if (verb == "slow-launch") {
    if (words.size() < 3) return invalid_argument("slow-launch: how slow? e.g. 5s");
    const Result<Duration> parsed = parse_duration(words[2]);
    RETURN_IF_ERROR(parsed.status());
    delay = parsed.value();
  }
  const Result<std::vector<FleetNode*>> nodes = fleet_.select(words[1]);
  RETURN_IF_ERROR(nodes.status());
  for (FleetNode* node : nodes.value()) {
    if (verb == "kill") node->kill();
    if (verb == "silence") node->set_silent(true);
    if (verb == "slow-launch") node->launch_habit().delay = delay;
    if (verb == "fail-launch") {
      node->launch_habit().failure = why.empty() ? "told to fail" : why;
    }
    if (verb == "restore") restore(*node);
  }
  return fmt::format("{} {}", nodes.value().size(), nodes.value().size() == 1 ? "node" : "nodes");
}

std::string FleetControl::status() const {
  size_t dead = 0;
  size_t silent = 0;
  size_t slow = 0;
  size_t failing = 0;
  size_t ranks = 0;
  for (const auto& node : fleet_.nodes()) {
    dead += node->is_alive() ? 0 : 1;
    silent += node->is_silent() ? 1 : 0;
    slow += node->launch_habit().delay > Duration(0) ? 1 : 0;
    failing += node->launch_habit().failure ? 1 : 0;
    ranks += node->ranks();
  }
  return fmt::format("nodes={} dead={} silent={} slow={} failing={} ranks={}",
                     fleet_.nodes().size(), dead, silent, slow, failing, ranks);
}

}  // namespace hai
