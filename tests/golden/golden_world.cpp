#include "tests/golden/golden_world.h"

#include <algorithm>

namespace hai::test {
namespace {

int64_t seconds_of(Duration time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

Priority to_level(const Line& line, const std::string& text) {
  Result<Priority> parsed = parse_priority(text);
  if (!parsed.is_ok()) line.fail("{}", parsed.status().message());
  return parsed.value();
}

}  // namespace

// Jobs get their ids in the order of the lines; then time is let pass for each of them.
GoldenWorld::GoldenWorld(std::vector<Line> lines) : c_(make_nodes(lines)) {
  for (Line& line : lines) {
    set_up(line);
    line.expect_no_more_options();
  }
  for (JobLine& job : had_) {
    let_have(job.id, to_duration(job.line, job.line.options.at("had")),
             to_duration(job.line, job.line.options.at("for")));
  }
  for (JobLine& job : running_) place(job);
  for (Line& line : holds_) hold(line);
}

// nodes COUNT [gpus=8] [zone=A] [leaf=leaf-1] [group=training]
Cluster GoldenWorld::make_nodes(std::vector<Line>& lines) {
  std::vector<NodesBuilder> parts;
  for (Line& line : lines) {
    if (line.command != "nodes") continue;
    NodesBuilder part =
        nodes(to_int(line, line.word(0, "how many")), gpus(line.take_int("gpus", 8)));
    if (auto zone = line.take("zone")) part.zone(*zone);
    if (auto leaf = line.take("leaf")) part.leaf(*leaf);
    if (auto group = line.take("group")) part.group(*group);
    parts.push_back(part);
  }
  return Cluster(parts);
}

template <typename Act>
void GoldenWorld::at(Duration ago, Act&& act) {
  c_.advance(-ago);
  act();
  c_.advance(ago);
}

void GoldenWorld::set_up(Line& line) {
  if (line.command == "nodes") return;
  if (line.command == "knob") {
    for (const auto& [name, value] : std::exchange(line.options, {})) {
      Status status = set_knob(c_.knobs, name, value);
      if (!status.is_ok()) line.fail("{}", status.message());
    }
  } else if (line.command == "node") {
    const std::string& name = line.word(0, "a node");
    const std::string& what = line.word(1, "a state");
    if (auto scheduling = parse_enum<Scheduling>(what)) {
      c_.set_scheduling(name, *scheduling);
    } else if (auto liveness = parse_enum<Liveness>(what)) {
      c_.set_liveness(name, *liveness);
    } else {
      line.fail("'{}' is no state of a node", what);
    }
  } else if (line.command == "quota") {
    c_.set_quota(line.word(0, "an owner"), "*", to_level(line, line.word(1, "a level")),
                 to_int(line, line.word(2, "nodes")));
  } else if (line.command == "user") {
    if (c_.state().find_user(line.word(0, "a name")) == nullptr) c_.add_user(line.words[0]);
    give_usage(line.words[0], line.take_duration("used", 0s));
  } else if (line.command == "run" || line.command == "wait") {
    submit(line);
  } else if (line.command == "hold") {
    holds_.push_back(std::exchange(line, {}));
  } else {
    line.fail("unknown command '{}'", line.command);
  }
}

// run NAME on=NODES [gpus= first=] [for=] [saved=] [save=] [jumper=yes] [leaving=yes] [had=], or
// wait NAME [nodes=] [gpus=] [for=] [had=]; both [user=] [level=] [max_leaves=] [cross_zone=no]
void GoldenWorld::submit(Line& line) {
  JobBuilder builder = job(line.word(0, "a name"));
  builder.user(line.take("user").value_or("ann"));
  builder.priority(to_level(line, line.take("level").value_or("normal")));
  builder.max_leaves(line.take_int("max_leaves", 0));
  if (!line.take_bool("cross_zone", true)) builder.cross_zone(CrossZone::never);
  const bool runs = line.command == "run";
  if (runs) {
    builder.nodes(static_cast<int>(to_names(line, line.options["on"]).size()));
    if (line.options.contains("gpus")) builder.gpus(to_int(line, line.options["gpus"]));
  } else {
    builder.nodes(line.take_int("nodes", 1)).gpus(line.take_int("gpus", 0));
  }
  const Duration ago = to_duration(line, line.options.emplace("for", "0s").first->second);
  JobId id;
  at(ago, [&] { id = c_.submit(builder); });
  jobs_[line.words[0]] = id;
  JobLine copy{line, id};
  if (line.options.contains("had")) had_.push_back(copy);
  if (runs) running_.push_back(copy);
  line.options.clear();
}

void GoldenWorld::give_usage(const std::string& user, Duration gpu_time) {
  if (gpu_time == 0s) return;
  const JobId id = c_.submit(job("past").user(user));
  let_have(id, gpu_time, 0s);
  c_.emit(JobFinished{id, JobState::stopped, 0, "golden"});
}

// An attempt on the first node that is over; its user's usage is what the job had.
void GoldenWorld::let_have(JobId id, Duration gpu_time, Duration ago) {
  at(ago, [&] {
    c_.place(id, c_.on({"node-1"}));
    c_.confirm(id);
    c_.emit(RankEnded{id, 1, 0, RankState::exited, ExitCause::go_suspend, 0, ""});
    c_.emit(AttemptEnded{id,
                         1,
                         AttemptState::suspended,
                         "golden",
                         0,
                         {},
                         seconds_of(gpu_time),
                         seconds_of(gpu_time)});
  });
}

void GoldenWorld::place(JobLine& job) {
  Line& line = job.line;
  (void)line.take("had");
  const std::vector<std::string> names = to_names(line, line.take("on").value_or(""));
  const int gpus = line.take_int("gpus", 0);
  const GpuSet set{GpuSet::first(gpus).bits << line.take_int("first", 0)};
  const bool is_jumper = line.take_bool("jumper", false);
  const Duration ago = line.take_duration("for", 0s);
  const auto saved = line.take("saved");
  const double save = static_cast<double>(seconds_of(line.take_duration("save", 0s)));
  at(ago, [&] {
    const int number = c_.job(job.id).attempt_number() + 1;
    const Priority level = c_.job(job.id).priority;
    c_.emit(AttemptPlaced{job.id, number, c_.on(names, set), level, 10'000, gpus == 0, is_jumper});
    c_.confirm(job.id);
  });
  if (saved) c_.checkpoint(job.id, to_duration(line, *saved), save);
  if (line.take_bool("leaving", false)) {
    c_.emit(AttemptSuspending{job.id, c_.attempt(job.id).number, c_.now + 60s, {}, "golden"});
  }
  line.expect_no_more_options();
}

// hold NAME on=NODES victims=a,b
void GoldenWorld::hold(Line& line) {
  const JobId id = id_of(line, line.word(0, "a job"));
  std::vector<JobId> victims;
  for (const std::string& name : to_names(line, line.take("victims").value_or(""))) {
    victims.push_back(id_of(line, name));
  }
  const Placement places = c_.on(to_names(line, line.take("on").value_or("")));
  c_.emit(NodesReserved{id, {places, c_.job(id).priority, victims, c_.now}});
  for (JobId victim : victims) {
    c_.emit(AttemptSuspending{victim, c_.attempt(victim).number, c_.now + 60s, id, "golden"});
  }
  line.expect_no_more_options();
}

JobId GoldenWorld::id_of(const Line& line, const std::string& name) const {
  auto found = jobs_.find(name);
  if (found == jobs_.end()) line.fail("there is no job {}", name);
  return found->second;
}

std::string GoldenWorld::name_of(JobId id) const { return c_.job(id).spec->name; }

std::string GoldenWorld::names_of(const std::vector<JobId>& ids) const {
  std::string text;
  for (JobId id : ids) text += (text.empty() ? "" : ",") + name_of(id);
  return text;
}

std::string GoldenWorld::plan() const {
  const Plan plan = c_.plan();
  std::string text;
  auto add = [&](const std::string& line) { text += line + "\n"; };
  for (const DropItem& item : plan.drops) {
    add(fmt::format("drop {}: {}", name_of(item.job), item.reason));
  }
  for (const ContinueItem& item : plan.continues) {
    add(fmt::format("continue {}: {}", name_of(item.job), item.reason));
  }
  for (const SuspendItem& item : plan.suspends) {
    add(fmt::format("suspend {}: {}", name_of(item.job), item.reason));
  }
  for (const StartItem& item : plan.starts) {
    add(fmt::format("start {} on {} at {}{}", name_of(item.job),
                    to_text(c_.state(), item.placement), to_string(item.priority),
                    item.is_jumper ? ", a jumper" : ""));
  }
  for (const ReserveItem& item : plan.reserves) {
    add(fmt::format("hold {} on {} at {}, leaving: {}", name_of(item.job),
                    to_text(c_.state(), item.placement), to_string(item.priority),
                    names_of(item.victims)));
  }
  for (const auto& [id, reason] : plan.pending) {
    add(fmt::format("wait {} {}: {}", name_of(id), to_string(reason.code), reason.text));
  }
  return text;
}

}  // namespace hai::test
