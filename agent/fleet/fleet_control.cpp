#include "agent/fleet/fleet_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "agent/health/catalogue.h"
#include "agent/health/fault_rule.h"
#include "agent/health/results.h"
#include "common/log.h"
#include "common/shell_words.h"

namespace hai {

namespace {

constexpr std::string_view kHelp =
    "kill NODES, silence NODES, slow-launch NODES TIME, fail-launch NODES [WHY], fault NODES CHECK "
    "TIER [TEXT], mend NODES, restore NODES, status, help; NODES: all, random:N, zone:Z, leaf:L or "
    "names as in node-[0001-0010]";

Result<std::string> one_line(const Result<std::string>& answer) {
  RETURN_IF_ERROR(answer.status());
  std::string text = answer.value();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

using Words = std::vector<std::string>;
// What a command does to each of its nodes.
using Change = std::function<void(FleetNode&)>;

std::string sentence(const Words& words, size_t first) {
  if (words.size() <= first) return "";
  return fmt::format("{}",
                     fmt::join(words.begin() + static_cast<ptrdiff_t>(first), words.end(), " "));
}

Result<Change> read_slow_launch(const Words& words, UnixTime) {
  if (words.empty()) return invalid_argument("slow-launch: how slow? e.g. 5s");
  const Result<Duration> delay = parse_duration(words[0]);
  RETURN_IF_ERROR(delay.status());
  return Change([delay = delay.value()](FleetNode& node) { node.launch_habit().delay = delay; });
}

Result<Change> read_fail_launch(const Words& words, UnixTime) {
  const std::string why = words.empty() ? "told to fail" : sentence(words, 0);
  return Change([why](FleetNode& node) { node.launch_habit().failure = why; });
}

Result<Change> read_fault(const Words& words, UnixTime now) {
  if (words.size() < 2) {
    return invalid_argument("fault: which check, of which tier? e.g. gpu_xid evict");
  }
  if (std::ranges::none_of(check_infos(),
                           [&](const auto& info) { return info.name == words[0]; })) {
    return invalid_argument("fault: {} is no check; docs/operations/health.md names them",
                            words[0]);
  }
  const std::optional<HealthTier> tier = parse_tier(words[1]);
  if (!tier) {
    return invalid_argument("fault: {}: a tier is log, app, validate, drain or evict", words[1]);
  }
  const std::string summary = with_remedy(words.size() > 2 ? sentence(words, 2) : "told to fail",
                                          "none: this node is pretended");
  const CheckResult fault{.name = words[0],
                          .verdict = CheckVerdict::fail,
                          .tier = *tier,
                          .summary = summary,
                          .at = now};
  return Change([fault](FleetNode& node) { node.faults().add(fault); });
}

struct Verb {
  std::string_view name;
  size_t words_max;                                          // with itself and NODES
  Result<Change> (*read)(const Words& words, UnixTime now);  // the words after NODES
};
constexpr Verb kVerbs[] = {
    {"kill", 2,
     [](const Words&, UnixTime) -> Result<Change> {
       return Change([](FleetNode& node) { node.kill(); });
     }},
    {"silence", 2,
     [](const Words&, UnixTime) -> Result<Change> {
       return Change([](FleetNode& node) { node.set_silent(true); });
     }},
    {"slow-launch", 3, read_slow_launch},
    {"fail-launch", kWordsMax, read_fail_launch},
    {"fault", kWordsMax, read_fault},
    {"mend", 2,
     [](const Words&, UnixTime) -> Result<Change> {
       return Change([](FleetNode& node) { node.faults().clear_all(); });
     }},
    {"restore", 2,
     [](const Words&, UnixTime) -> Result<Change> {
       return Change([](FleetNode& node) {
         node.set_silent(false);
         node.launch_habit() = {};
         node.faults().clear_all();
         node.start();
       });
     }},
};

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
  const auto known = std::ranges::find(kVerbs, verb, &Verb::name);
  if (known == std::end(kVerbs)) {
    return invalid_argument("{}: unknown; known are {}", verb, kHelp);
  }
  if (words.size() < 2) return invalid_argument("{}: of which nodes? {}", verb, kHelp);
  if (words.size() > known->words_max) return invalid_argument("{}: too many words", verb);
  Result<Change> change = known->read({words.begin() + 2, words.end()}, loop_.wall_now());
  RETURN_IF_ERROR(change.status());
  const Result<std::vector<FleetNode*>> nodes = fleet_.select(words[1]);
  RETURN_IF_ERROR(nodes.status());
  for (FleetNode* node : nodes.value()) change.value()(*node);
  return fmt::format("{} {}", nodes.value().size(), nodes.value().size() == 1 ? "node" : "nodes");
}

std::string FleetControl::status() const {
  size_t dead = 0;
  size_t silent = 0;
  size_t slow = 0;
  size_t failing = 0;
  size_t faulty = 0;
  size_t ranks = 0;
  for (const auto& node : fleet_.nodes()) {
    dead += node->is_alive() ? 0 : 1;
    silent += node->is_silent() ? 1 : 0;
    slow += node->launch_habit().delay > Duration(0) ? 1 : 0;
    failing += node->launch_habit().failure ? 1 : 0;
    faulty += node->faults().results().empty() ? 0 : 1;
    ranks += node->ranks();
  }
  return fmt::format("nodes={} dead={} silent={} slow={} failing={} faulty={} ranks={}",
                     fleet_.nodes().size(), dead, silent, slow, failing, faulty, ranks);
}

}  // namespace hai
