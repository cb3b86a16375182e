#include "sim/world_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "sim/decision_points.h"

namespace hai {
namespace {

constexpr std::string_view kFirstLine = "hai-sim world 1";

// ---- writing

std::string exact_seconds(Duration time) {
  const int64_t count = std::abs(time.count());
  return fmt::format("{}{}.{:06}", time.count() < 0 ? "-" : "", count / 1'000'000,
                     count % 1'000'000);
}

std::string text_of(const When& when) {
  if (when.point < 0) return "@" + exact_seconds(when.at);
  return fmt::format("@{}+{}:{}#{}+{}", exact_seconds(when.at), point_name(when.point),
                     when.node < 0 ? "*" : std::to_string(when.node), when.nth,
                     exact_seconds(when.after));
}

std::string text_of(const JobSpec& spec) {
  std::string text =
      fmt::format(" level={} nodes={} gpus={} leaves={} cross={} grace={}",
                  static_cast<int>(spec.priority), spec.node_count, spec.gpus_per_node,
                  spec.max_leaves, to_string(spec.cross_zone), exact_seconds(spec.suspend.grace));
  if (spec.cpus_per_node > 0) text += fmt::format(" cpus={}", spec.cpus_per_node);
  if (spec.memory_per_node_bytes > 0) {
    text += fmt::format(" memory={}", spec.memory_per_node_bytes);
  }
  if (!spec.array.empty()) text += " array=" + spec.array;
  if (!spec.node_filter.exclude.empty()) text += " exclude=" + spec.node_filter.exclude;
  if (!spec.suspend.signal.empty()) text += " signal=" + spec.suspend.signal;
  if (spec.is_interactive) text += " interactive=yes";
  if (spec.restart.on_failure) text += fmt::format(" restarts={}", spec.restart.max);
  for (const std::string& name : spec.depends_on) text += " after=" + name;
  for (const auto& [name, value] : spec.environments) text += fmt::format(" {}={}", name, value);
  return text;
}

std::string text_of(const Act& act) {
  std::string text(to_string(act.kind));
  switch (act.kind) {
    case ActKind::ask:
    case ActKind::users:
      return text;
    case ActKind::submit:
      return text + fmt::format(" job={} user={}", act.job, act.user) + text_of(*act.spec);
    case ActKind::quota:
      return text + fmt::format(" user={} level={} nodes={}", act.user, static_cast<int>(act.level),
                                act.nodes);
    case ActKind::priority:
      return text + fmt::format(" job={} level={}", act.job, static_cast<int>(act.level));
    case ActKind::knob:
      return text + fmt::format(" nodes={}", act.nodes);
    case ActKind::cordon:
    case ActKind::drain:
    case ActKind::undrain:
    case ActKind::remove:
      return text + fmt::format(" node={}", act.node);
    default:
      return text + fmt::format(" job={}", act.job);
  }
}

// ---- reading

// One line as words, "key=value" among them.
class Line {
 public:
  explicit Line(std::string_view text) {
    while (!text.empty()) {
      const size_t start = text.find_first_not_of(' ');
      if (start == std::string_view::npos || text[start] == '#') return;
      text.remove_prefix(start);
      const size_t end = std::min(text.find(' '), text.size());
      words_.emplace_back(text.substr(0, end));
      text.remove_prefix(end);
    }
  }
  bool is_empty() const { return words_.empty(); }
  bool is_good() const { return is_good_; }
  void fail() { is_good_ = false; }
  std::string word(size_t index) {
    if (index < words_.size()) return words_[index];
    is_good_ = false;
    return "";
  }
  const std::vector<std::string>& words() const { return words_; }
  std::optional<std::string> find(std::string_view key) const {
    for (const std::string& word : words_) {
      if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=')
        return word.substr(key.size() + 1);
    }
    return std::nullopt;
  }
  int64_t number(std::string_view key, int64_t otherwise = 0) {
    const auto text = find(key);
    return text ? to_number(*text) : otherwise;
  }
  Duration time(std::string_view key) {
    const auto text = find(key);
    return text ? to_time(*text) : Duration(0);
  }
  template <typename Number = int64_t>
  Number to_number(std::string_view text) {
    Number value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) is_good_ = false;
    return value;
  }
  // Seconds with at most six decimals.
  Duration to_time(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    const size_t dot = std::min(text.find('.'), text.size());
    std::string decimals(dot < text.size() ? text.substr(dot + 1) : "");
    if (decimals.size() > 6) is_good_ = false;
    decimals.resize(6, '0');
    const int64_t whole = to_number(text.substr(0, dot));
    if (whole < 0 || whole > 1'000'000'000) is_good_ = false;
    if (!is_good_) return Duration(0);
    const Duration time(whole * 1'000'000 + to_number(decimals));
    return is_negative ? -time : time;
  }
  template <typename Kind>
  Kind kind_named(std::string_view name, int count) {
    for (int i = 0; i < count; ++i) {
      if (to_string(static_cast<Kind>(i)) == name) return static_cast<Kind>(i);
    }
    is_good_ = false;
    return Kind{};
  }

 private:
  std::vector<std::string> words_;
  bool is_good_ = true;
};

When read_when(Line& line, std::string text) {
  When when;
  if (!text.starts_with('@')) {
    line.fail();
    return when;
  }
  const size_t plus = std::min(text.find('+'), text.size());
  when.at = line.to_time(text.substr(1, plus - 1));
  if (plus == text.size()) return when;
  const size_t colon = text.find(':'), hash = text.find('#');
  const size_t last = text.find('+', plus + 1);
  if (colon == std::string::npos || hash == std::string::npos || last == std::string::npos ||
      hash < colon || last < hash) {
    line.fail();
    return when;
  }
  when.point = point_named(text.substr(plus + 1, colon - plus - 1));
  const std::string node = text.substr(colon + 1, hash - colon - 1);
  when.node = node == "*" ? -1 : static_cast<int>(line.to_number(node));
  when.nth = static_cast<int>(line.to_number(text.substr(hash + 1, last - hash - 1)));
  when.after = line.to_time(text.substr(last + 1));
  if (when.point < 0) line.fail();
  return when;
}

std::shared_ptr<const JobSpec> read_spec(Line& line, int job) {
  JobSpec spec;
  spec.name = fmt::format("job-{}", job);
  spec.workspace = "/sim";
  spec.entrypoint = "program";
  spec.priority = static_cast<Priority>(line.number("level"));
  spec.node_count = static_cast<int>(line.number("nodes", 1));
  spec.gpus_per_node = static_cast<int>(line.number("gpus"));
  spec.cpus_per_node = static_cast<int>(line.number("cpus"));
  spec.memory_per_node_bytes = line.number("memory");
  spec.max_leaves = static_cast<int>(line.number("leaves"));
  spec.array = line.find("array").value_or("");
  spec.node_filter.exclude = line.find("exclude").value_or("");
  if (line.find("cross") == to_string(CrossZone::never)) spec.cross_zone = CrossZone::never;
  spec.suspend.grace = line.time("grace");
  spec.suspend.signal = line.find("signal").value_or("");
  spec.is_interactive = line.find("interactive").has_value();
  spec.restart = {.on_failure = line.find("restarts").has_value(), .max = 2};
  if (spec.restart.on_failure) spec.restart.max = static_cast<int>(line.number("restarts"));
  for (const std::string& word : line.words()) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    if (word.starts_with("after=")) spec.depends_on.push_back(word.substr(equals + 1));
    if (word.starts_with("SIM_"))
      spec.environments[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return std::make_shared<const JobSpec>(std::move(spec));
}

void read_act(Line& line, WorldPlan& plan) {
  PlannedAct planned{.when = read_when(line, line.word(1))};
  Act& act = planned.act;
  act.kind = line.kind_named<ActKind>(line.word(2), kActKinds);
  act.job = static_cast<int>(line.number("job"));
  act.node = static_cast<int>(line.number("node"));
  act.user = line.find("user").value_or("");
  if (act.kind == ActKind::submit) {
    act.spec = read_spec(line, act.job);
  } else {
    act.level = static_cast<Priority>(line.number("level", 10));
    act.nodes = line.number("nodes");
  }
  if (act.node < 0) line.fail();
  plan.acts.push_back(std::move(planned));
}

void read_deed(Line& line, WorldPlan& plan) {
  PlannedDeed planned{.when = read_when(line, line.word(1))};
  planned.deed = {.kind = line.kind_named<DeedKind>(line.word(2), kDeedKinds),
                  .target = static_cast<int>(line.number("target")),
                  .time = line.time("time"),
                  .a = line.number("a"),
                  .b = line.number("b")};
  planned.strike = static_cast<int>(line.number("strike"));
  plan.deeds.push_back(planned);
}

void read_network(Line& line, NetworkModel& model) {
  model.delay_min = line.time("delay_min");
  model.delay_max = line.time("delay_max");
  model.keepalive = line.time("keepalive");
  auto share = [&](std::string_view key) {
    return line.to_number<double>(line.find(key).value_or(""));
  };
  model.loss = share("loss");
  model.duplication = share("duplication");
  model.reordering = share("reordering");
}

void read_line(Line& line, WorldPlan& plan) {
  const std::string what = line.word(0);
  auto value = [&] { return line.to_number(line.word(1)); };
  if (what == "nodes")
    plan.nodes = static_cast<int>(value());
  else if (what == "leaves")
    plan.leaves = static_cast<int>(value());
  else if (what == "chaos")
    plan.chaos = line.to_time(line.word(1));
  else if (what == "noise")
    plan.noise = line.to_number<uint64_t>(line.word(1));
  else if (what == "drift_ppm_max")
    plan.drift_ppm_max = value();
  else if (what == "launch_failures_ppm")
    plan.launch_failures_ppm = value();
  else if (what == "store_can_be_slow")
    plan.store_can_be_slow = value() != 0;
  else if (what == "store_can_go_back")
    plan.store_can_go_back = value() != 0;
  else if (what == "network")
    read_network(line, plan.network);
  else if (what == "act")
    read_act(line, plan);
  else if (what == "deed")
    read_deed(line, plan);
  else if (what == "knob") {
    if (!set_knob(plan.knobs, line.word(1), line.word(2)).is_ok()) line.fail();
  } else if (what == "hold") {
    plan.holds.push_back({.when = read_when(line, line.word(1)),
                          .arrivals = static_cast<int>(line.number("arrivals", 1))});
    if (!is_message_that_leaves(plan.holds.back().when.point)) line.fail();
  } else if (what == "draw") {
    const std::string who = line.word(3);
    plan.tape.push_back({.source = line.kind_named<Source>(line.word(2), kSources),
                         .who = who == "-" ? "" : who,
                         .at = read_when(line, line.word(1)).at,
                         .nth = static_cast<int>(line.to_number(line.word(4))),
                         .value = line.to_number(line.word(5))});
  } else {
    line.fail();
  }
}

bool is_possible(const WorldPlan& plan) {
  return plan.nodes >= 1 && plan.nodes <= 5000 && plan.leaves >= 1 && plan.leaves <= 5000 &&
         check_knobs(plan.knobs).is_ok();
}

}  // namespace

std::string to_text(const WorldPlan& plan) {
  std::string text = fmt::format(
      "{}\nnodes {}\nleaves {}\nchaos {}\nnoise {}\ndrift_ppm_max {}\nlaunch_failures_ppm {}\n"
      "store_can_be_slow {}\nstore_can_go_back {}\n",
      kFirstLine, plan.nodes, plan.leaves, exact_seconds(plan.chaos), plan.noise,
      plan.drift_ppm_max, plan.launch_failures_ppm, static_cast<int>(plan.store_can_be_slow),
      static_cast<int>(plan.store_can_go_back));
  text += fmt::format(
      "network delay_min={} delay_max={} loss={} duplication={} reordering={} keepalive={}\n",
      exact_seconds(plan.network.delay_min), exact_seconds(plan.network.delay_max),
      plan.network.loss, plan.network.duplication, plan.network.reordering,
      exact_seconds(plan.network.keepalive));
  for (const auto& [name, value] : knobs_as_text(plan.knobs)) {
    if (value != get_knob(Knobs{}, name)) text += fmt::format("knob {} {}\n", name, value);
  }
  for (const PlannedAct& planned : plan.acts)
    text += fmt::format("act {} {}\n", text_of(planned.when), text_of(planned.act));
  for (const PlannedDeed& planned : plan.deeds) {
    text += fmt::format("deed {} {} target={} time={} a={} b={} strike={}\n", text_of(planned.when),
                        to_string(planned.deed.kind), planned.deed.target,
                        exact_seconds(planned.deed.time), planned.deed.a, planned.deed.b,
                        planned.strike);
  }
  for (const PlannedHold& hold : plan.holds)
    text += fmt::format("hold {} arrivals={}\n", text_of(hold.when), hold.arrivals);
  for (const Drawn& drawn : plan.tape) {
    text += fmt::format("draw @{} {} {} {} {}\n", exact_seconds(drawn.at), to_string(drawn.source),
                        drawn.who.empty() ? "-" : drawn.who, drawn.nth, drawn.value);
  }
  return text;
}

Result<WorldPlan> to_plan(const std::string& text) {
  WorldPlan plan;
  if (!text.starts_with(kFirstLine)) return invalid_argument("line 1: must be '{}'", kFirstLine);
  size_t number = 1;
  for (size_t start = kFirstLine.size() + 1; start < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', start), text.size());
    Line line(std::string_view(text).substr(start, end - start));
    start = end + 1;
    if (line.is_empty()) continue;
    read_line(line, plan);
    if (!line.is_good()) return invalid_argument("line {}: not understood", number + 1);
  }
  if (!is_possible(plan)) return invalid_argument("its nodes, leaves or knobs are impossible");
  return plan;
}

}  // namespace hai
