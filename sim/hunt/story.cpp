#include "sim/hunt/story.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace hai {
namespace {

std::string name_of(const ClusterState& state, NodeId id) {
  const Node* node = state.find(id);
  return node == nullptr ? "a node" : node->facts.name;
}

std::string words_of(std::string_view kind) {
  std::string words(kind);
  std::ranges::replace(words, '_', ' ');
  return words;
}

// What the servers decided or heard; "" for what tells nothing.
std::string told(const Event& event, const ClusterState& state) {
  auto attempt = [](const auto& body) {
    return fmt::format("{}.{}", body.job.value, body.attempt);
  };
  if (auto* placed = std::get_if<AttemptPlaced>(&event.body)) {
    std::string where;
    for (const RankPlacement& place : placed->placement) {
      where += fmt::format(" {} (GPUs {})", name_of(state, place.node), to_string(place.gpus));
    }
    return fmt::format("{} is placed on{}", attempt(*placed), where);
  }
  if (auto* ended = std::get_if<AttemptEnded>(&event.body))
    return fmt::format("{} has ended: {}, {}", attempt(*ended), to_string(ended->outcome),
                       ended->reason);
  if (auto* ending = std::get_if<AttemptEnding>(&event.body))
    return fmt::format("{} is to end: {}", attempt(*ending), ending->end.reason);
  if (auto* leaving = std::get_if<AttemptSuspending>(&event.body))
    return fmt::format("{} is asked to leave{}: {}", attempt(*leaving),
                       leaving->beneficiary ? fmt::format(" for job {}", leaving->beneficiary.value)
                                            : std::string(),
                       leaving->reason);
  if (auto* reserved = std::get_if<NodesReserved>(&event.body)) {
    std::string where;
    for (const RankPlacement& place : reserved->reservation.placement) {
      where += fmt::format(" {} (GPUs {})", name_of(state, place.node), to_string(place.gpus));
    }
    return fmt::format("job {} has reserved{}", reserved->job.value, where);
  }
  if (auto* rank = std::get_if<RankEnded>(&event.body))
    return fmt::format("rank {}.{} has ended: {}", attempt(*rank), rank->rank,
                       to_string(rank->cause));
  if (auto* submitted = std::get_if<JobSubmitted>(&event.body))
    return fmt::format("{} is job {}", submitted->spec->name, submitted->job.value);
  if (auto* changed = std::get_if<NodeLivenessChanged>(&event.body))
    return fmt::format("{} is {}: {}", name_of(state, changed->node), to_string(changed->liveness),
                       changed->reason);
  if (auto* epoch = std::get_if<EpochStarted>(&event.body))
    return fmt::format("a server leads, epoch {}", epoch->epoch.value);
  if (const JobId job = job_of(event.body); job && !std::holds_alternative<RankRunning>(event.body))
    return fmt::format("job {}: {}", job.value, words_of(kind_of(event.body)));
  return "";
}

std::string told(const Act& act, const World& world) {
  const std::string job = fmt::format("job-{}", act.job);
  const std::string node = world.node_name(act.node % world.node_count());
  switch (act.kind) {
    case ActKind::ask:
      return "";
    case ActKind::submit: {
      const JobSpec& spec = *act.spec;
      return fmt::format("{} submits {}: {} nodes x {} GPUs, priority {}, work {}", act.user, job,
                         spec.node_count,
                         spec.gpus_per_node == 0 ? "all" : std::to_string(spec.gpus_per_node),
                         to_string(spec.priority),
                         format_duration(ProgramModel::from_environment(spec.environments).work));
    }
    case ActKind::users:
      return "the administrator makes the users";
    case ActKind::quota:
      return fmt::format("the quota of {} at {} becomes {} nodes", act.user, to_string(act.level),
                         act.nodes);
    case ActKind::priority:
      return fmt::format("{} gets priority {}", job, to_string(act.level));
    case ActKind::knob:
      return fmt::format("the administrator turns a knob ({})", act.nodes);
    case ActKind::cordon:
    case ActKind::drain:
    case ActKind::undrain:
    case ActKind::remove:
      return fmt::format("{}: {}", to_string(act.kind), node);
    default:
      return fmt::format("{}: {}", to_string(act.kind), job);
  }
}

// What is worth telling of a message: that it came late, or that an agent has come (back).
std::string told(const Moment& moment, const World& world) {
  if (moment.message == nullptr || !moment.message->arrives) return "";
  const std::string& node = world.node_name(moment.node);
  std::string name = point_name(moment.point);
  name.resize(name.find("_arrives"));
  std::string what = words_of(name);
  if (moment.message->order != nullptr) {
    std::visit(
        [&](const auto& order) {
          if constexpr (requires { order.key.attempt; }) what += " " + to_string(order.key);
        },
        moment.message->order->body);
    what = fmt::format("the order {} reaches {}", what, node);
  } else {
    what = fmt::format("the {} of {} reaches the server", what, node);
    std::string ranks;
    for (const RankStatus& rank : moment.message->report->ranks)
      ranks += fmt::format(" {} {},", to_string(rank.key), to_string(rank.phase));
    if (!ranks.empty()) ranks.back() = ')', what += " (" + ranks.substr(1);
  }
  if (moment.is_overtaken) return what + ", overtaken by a later message";
  const bool is_telling = name == "launch" || name == "kill" || name == "hello";
  return is_telling ? what : "";
}

class Story {
 public:
  explicit Story(const WorldPlan& world) : plan_(world) {}

  std::string tell(ChaosOptions chaos, size_t lines_max) {
    chaos.on_act = [this](const Act& act, World& world) { add(world, told(act, world)); };
    chaos.on_deed = [this](const Deed& deed, World& world) { add(world, told(deed, world), true); };
    chaos.on_moment = [this](const Moment& moment, World& world) { see(moment, world); };
    const ChaosResult result = run_world(plan_, chaos);
    std::string text = fmt::format("{} nodes; knobs that are not the defaults:", plan_.nodes);
    for (const auto& [name, value] : knobs_as_text(plan_.knobs)) {
      if (value != get_knob(Knobs{}, name)) text += fmt::format(" {}={}", name, value);
    }
    text += '\n';
    const size_t left_out = lines_.size() > lines_max ? lines_.size() - lines_max : 0;
    leave_out(left_out);
    if (left_out > 0) text += fmt::format("({} lines left out)\n", left_out);
    for (const Line& line : lines_) text += line.text;
    text += line_at(result.virtual_time, "so: " + result.violation.value_or("nothing is wrong"));
    return text;
  }

 private:
  struct Line {
    std::string text;
    bool is_fault = false;
  };
  static std::string line_at(Duration at, const std::string& text) {
    return fmt::format("{:>11.3f} s  {}\n", static_cast<double>(at.count()) / 1e6, text);
  }

  void add(const World& world, const std::string& text, bool is_fault = false) {
    if (text.empty()) return;
    lines_.push_back({line_at(world.timeline().now().time_since_epoch(), text), is_fault});
  }

  void see(const Moment& moment, World& world) {
    add(world, told(moment, world));
    Controller* leader = world.leader();
    if (moment.event != nullptr && leader != nullptr)
      add(world, told(*moment.event, leader->state()));
  }

  void leave_out(size_t count) {
    std::erase_if(lines_,
                  [&](const Line& line) { return !line.is_fault && count > 0 && count-- > 0; });
    if (count > 0)
      lines_.erase(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  const WorldPlan& plan_;
  std::vector<Line> lines_;
};

}  // namespace

std::string story_of(const WorldPlan& world, const ChaosOptions& chaos, size_t lines_max) {
  return Story(world).tell(chaos, lines_max);
}

}  // namespace hai
