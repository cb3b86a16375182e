#include "tests/scenario/player.h"

#include <algorithm>

#include "server/control/engine/views.h"
#include "server/store/event_line.h"

namespace hai::test {
namespace {

constexpr Duration kStep = 500ms;
constexpr Duration kQuiet = 5s;         // without events that matter: settled
constexpr Duration kSettleMax = 10min;  // of virtual time
constexpr Duration kLivenessMax = 48h;

// What a running job says by the way does not keep a scenario from being settled.
bool is_chatter(const EventBody& body) {
  return std::holds_alternative<CheckpointReported>(body) ||
         std::holds_alternative<LifeStateSet>(body);
}

Priority to_priority(const Line& line, const std::string& text) {
  Result<Priority> parsed = parse_priority(text);
  if (!parsed.is_ok()) line.fail("{}", parsed.status().message());
  return parsed.value();
}

}  // namespace

void Player::play(std::vector<Line> lines) {
  for (Line& line : lines) {
    if (world_ == nullptr) {
      if (configure(line)) continue;
      if (options_.facts.empty()) line.fail("a scenario begins with nodes");
      start_world();
    }
    refusal_.clear();
    as_ = "ann";
    run(line);
    check(line);
  }
  prove_liveness(lines.back());
}

std::vector<std::string> Player::log() const {
  std::vector<std::string> lines;
  if (world_ == nullptr) return lines;
  for (const Event& event : world_->database().events()) lines.push_back(event_line(event));
  return lines;
}

bool Player::configure(Line& line) {
  if (line.command == "servers") {
    options_.servers = to_int(line, line.word(0, "how many"));
  } else if (line.command == "knob") {
    while (!line.options.empty()) {
      auto [name, value] = *line.options.begin();
      line.options.erase(line.options.begin());
      Status status = set_knob(options_.knobs, name, value);
      if (!status.is_ok()) line.fail("{}", status.message());
    }
  } else if (line.command == "nodes") {
    NodeFacts facts{.group = line.take("group").value_or("training"),
                    .zone = line.take("zone").value_or("A"),
                    .leaf = line.take("leaf").value_or("leaf-1"),
                    .gpus = line.take_int("gpus", 8),
                    .cpus = 64,
                    .memory_bytes = int64_t{1} << 39,
                    .peer_port = line.take_bool("peers", true) ? 7703 : 0};
    for (const std::string& name : to_names(line, line.word(0, "names"))) {
      facts.name = name;
      facts.address = "address-of-" + name;
      options_.facts.push_back(facts);
    }
  } else {
    return false;
  }
  line.expect_no_more_options();
  return true;
}

void Player::start_world() {
  world_ = std::make_unique<World>(options_);
  for (int i = 0; i < world_->server_count(); ++i) world_->start_server(i);
  run_for(5s);
  for (int i = 0; i < world_->node_count(); ++i) world_->start_agent(i);
  run_for(5s);
}

void Player::run(Line& line) {
  using Handler = void (Player::*)(Line&);
  static const std::map<std::string, Handler> handlers = {
      {"submit", &Player::submit},
      {"stop", &Player::control},
      {"suspend", &Player::control},
      {"resume", &Player::control},
      {"hold", &Player::control},
      {"release", &Player::control},
      {"priority", &Player::control},
      {"move", &Player::move},
      {"cordon", &Player::control_node},
      {"drain", &Player::control_node},
      {"undrain", &Player::control_node},
      {"quota", &Player::set_quota},
      {"user", &Player::set_user},
      {"kill-agent", &Player::fault_of_node},
      {"revive-agent", &Player::fault_of_node},
      {"kill-node", &Player::fault_of_node},
      {"revive-node", &Player::fault_of_node},
      {"kill-shim", &Player::fault_of_node},
      {"start-impostor", &Player::fault_of_node},
      {"stop-impostor", &Player::fault_of_node},
      {"pause-agent", &Player::pause_agent},
      {"lose-record", &Player::fault_of_node},
      {"jump-clock", &Player::jump_clock},
      {"cut", &Player::fault_of_network},
      {"heal", &Player::fault_of_network},
      {"kill-server", &Player::fault_of_server},
      {"start-server", &Player::fault_of_server},
      {"pause-server", &Player::fault_of_server},
      {"store", &Player::fault_of_store},
      {"settle", &Player::settle},
      {"advance", &Player::advance},
  };
  // Prefixes: "refused CODE COMMAND …" and "as USER COMMAND …".
  while (line.command == "refused" || line.command == "as") {
    (line.command == "refused" ? refusal_ : as_) = line.word(0, "a code or a user");
    line.command = line.word(1, "a command");
    line.words.erase(line.words.begin(), line.words.begin() + 2);
  }
  if (line.command == "expect") return expect(*this, line);
  auto handler = handlers.find(line.command);
  if (handler == handlers.end()) line.fail("unknown command '{}'", line.command);
  (this->*handler->second)(line);
  line.expect_no_more_options();
}

void Player::check(const Line& line) {
  if (auto violation = world_->checkers().violation()) line.fail("{}", *violation);
}

// ---- asking the server

Controller& Player::leader(const Line& line) {
  Controller* leader = world_->leader();
  if (leader == nullptr) line.fail("no server leads");
  return *leader;
}

CommandReply Player::ask(const Line& line, const std::string& user, Command command) {
  auto answer = std::make_shared<std::optional<Result<CommandReply>>>();
  leader(line).submit({.trusted_user = user}, std::move(command),
                      [answer](Result<CommandReply> reply) { *answer = std::move(reply); });
  for (int i = 0; i < 200 && !answer->has_value(); ++i) run_for(50ms);
  if (!answer->has_value()) line.fail("no answer within 10 s");
  const Status& status = (*answer)->status();
  if (refusal_.empty() && !status.is_ok())
    line.fail("refused: {}: {}", to_string(status.code()), status.message());
  if (!refusal_.empty() && to_string(status.code()) != refusal_) {
    line.fail("expected to be refused with {}, was answered {} {}", refusal_,
              to_string(status.code()), status.message());
  }
  return status.is_ok() ? (*answer)->value() : CommandReply{};
}

void Player::submit(Line& line) {
  ProgramModel program{.work = line.take_duration("work", 1h),
                       .period = line.take_duration("period", 0s),
                       .save = line.take_duration("save", 2s),
                       .obeys = line.take_bool("obeys", true),
                       .fails_after = line.take_duration("fails", 0s)};
  JobSpec spec;
  spec.name = line.word(0, "a name");
  spec.workspace = "/sim";
  spec.entrypoint = "program";
  spec.environments = program.to_environment();
  spec.priority = to_priority(line, line.take("priority").value_or("normal"));
  spec.node_count = line.take_int("nodes", 1);
  spec.gpus_per_node = line.take_int("gpus", 0);
  spec.group = line.take("group").value_or("training");
  spec.zone = line.take("zone").value_or("");
  spec.max_leaves = line.take_int("max_leaves", 0);
  spec.cross_zone = line.take_bool("cross_zone", true) ? CrossZone::allow : CrossZone::never;
  spec.suspend.grace = line.take_duration("grace", 60s);
  spec.suspend.signal = line.take("signal").value_or("");
  spec.timeout = line.take_duration("timeout", 0s);
  if (int restarts = line.take_int("restarts", 0); restarts > 0)
    spec.restart = {.on_failure = true, .max = restarts};
  if (auto names = line.take("depends_on")) spec.depends_on = to_names(line, *names);
  if (auto begin = line.take("begin_in"))
    spec.begin_at = VirtualLoop::kWallStart + world_->timeline().now().time_since_epoch() +
                    to_duration(line, *begin);
  std::string request = line.take("request").value_or("");
  CommandReply reply = ask(line, line.take("user").value_or(as_), SubmitJob{spec, request});
  if (reply.job) jobs_[spec.name] = reply.job;
}

void Player::control(Line& line) {
  const std::string& name = line.word(0, "a job");
  if (!jobs_.contains(name)) line.fail("job {} was never submitted", name);
  std::string id = std::to_string(jobs_.at(name).value);
  const std::string& verb = line.command;
  Command command = verb == "stop"      ? Command{StopJob{id, ""}}
                    : verb == "suspend" ? Command{SuspendJob{id, ""}}
                    : verb == "resume"  ? Command{ResumeJob{id}}
                    : verb == "hold"    ? Command{HoldJob{id, ""}}
                    : verb == "release"
                        ? Command{ReleaseJob{id}}
                        : Command{SetJobPriority{id, to_priority(line, line.word(1, "a level"))}};
  ask(line, as_, std::move(command));
}

// move NAME first|last|before [OTHER]
void Player::move(Line& line) {
  auto id_of = [&](const std::string& name) {
    if (!jobs_.contains(name)) line.fail("job {} was never submitted", name);
    return std::to_string(jobs_.at(name).value);
  };
  MoveJob command{.job = id_of(line.word(0, "a job"))};
  const std::string& where = line.word(1, "first, last or before");
  if (where == "last") {
    command.to = MoveJob::To::last;
  } else if (where == "before") {
    command.to = MoveJob::To::before;
    command.other = id_of(line.word(2, "another job"));
  } else if (where != "first") {
    line.fail("move: '{}' is none of first, last, before", where);
  }
  ask(line, as_, std::move(command));
}

void Player::control_node(Line& line) {
  for (const std::string& name : to_names(line, line.word(0, "a node"))) {
    ask(line, as_,
        line.command == "cordon"  ? Command{CordonNode{name, "scenario"}}
        : line.command == "drain" ? Command{DrainNode{name, "scenario"}}
                                  : Command{UndrainNode{name}});
  }
}

// quota OWNER LEVEL NODES [group=*]
void Player::set_quota(Line& line) {
  Quota quota{line.word(0, "an owner"), line.take("group").value_or("*"),
              to_priority(line, line.word(1, "a level")), to_int(line, line.word(2, "nodes"))};
  ask(line, as_, SetQuota{quota});
}

// user NAME [groups=a,b] [active=no]
void Player::set_user(Line& line) {
  User user{.name = line.word(0, "a name"), .active = line.take_bool("active", true)};
  if (auto groups = line.take("groups")) user.groups = to_names(line, *groups);
  ask(line, as_, SetUser{user});
}

// ---- faults

int Player::node_index(const Line& line, const std::string& name) const {
  int index = world_->index_of(name);
  if (index < 0) line.fail("there is no node {}", name);
  return index;
}

void Player::fault_of_node(Line& line) {
  for (const std::string& name : to_names(line, line.word(0, "a node"))) {
    int index = node_index(line, name);
    bool runs = world_->agent_runs(index);
    if (line.command == "lose-record") {
      world_->node(index).record.reset();
    } else if (line.command == "kill-shim") {
      world_->node(index).crash_one_shim();
    } else if (line.command.ends_with("-impostor")) {
      const bool starts = line.command.starts_with("start");
      if (starts == world_->impostor_runs(index)) line.fail("that is so already");
      starts ? world_->start_impostor(index) : world_->stop_impostor(index);
    } else if (line.command == "kill-node") {
      world_->crash_node(index);
    } else if (line.command == "kill-agent") {
      if (!runs) line.fail("the agent of {} does not run", name);
      world_->crash_agent(index);
    } else {
      if (runs) line.fail("the agent of {} runs already", name);
      world_->start_agent(index);
    }
  }
}

void Player::fault_of_network(Line& line) {
  const int island = line.take_int("island", 0);
  for (const std::string& name : to_names(line, line.word(0, "a node"))) {
    node_index(line, name);
    if (line.command == "heal") {
      world_->network().heal(name);
      continue;
    }
    static const std::map<std::string, SimNetwork::Cut> kDirections = {
        {"none", SimNetwork::Cut::none},
        {"both", SimNetwork::Cut::both},
        {"to_server", SimNetwork::Cut::to_server},
        {"to_agent", SimNetwork::Cut::to_agent}};
    auto direction = kDirections.find(line.words.size() > 1 ? line.words[1] : "both");
    if (direction == kDirections.end())
      line.fail("cut: both, none, to_server or to_agent, not '{}'", line.words[1]);
    world_->network().cut(name, direction->second, island);
  }
}

void Player::pause_agent(Line& line) {
  const Duration time = to_duration(line, line.word(1, "how long"));
  for (const std::string& name : to_names(line, line.word(0, "a node"))) {
    world_->pause_agent(node_index(line, name), time);
  }
}

// jump-clock server|NODES [-]TIME: how much their wall clocks are ahead from now on.
void Player::jump_clock(Line& line) {
  std::string time = line.word(1, "how far");
  const bool is_back = time.starts_with('-');
  const Duration ahead = to_duration(line, is_back ? time.substr(1) : time);
  const auto set = [&](int machine) { world_->set_wall_skew(machine, is_back ? -ahead : ahead); };
  if (line.words[0] == "server") {
    for (int i = 0; i < world_->server_count(); ++i) set(i);
    return;
  }
  for (const std::string& name : to_names(line, line.words[0])) {
    set(world_->server_count() + node_index(line, name));
  }
}

void Player::fault_of_server(Line& line) {
  int index = 0;
  if (line.command == "pause-server") {
    Duration time = to_duration(line, line.word(0, "how long"));
    if (line.words.size() > 1) index = to_int(line, line.words[1]);
    return world_->pause_server(index, time);
  }
  if (!line.words.empty()) index = to_int(line, line.words[0]);
  if (index < 0 || index >= world_->server_count()) line.fail("there is no server {}", index);
  bool runs = world_->server_runs(index);
  if (line.command == "kill-server") {
    if (!runs) line.fail("server {} does not run", index);
    world_->crash_server(index);
  } else {
    if (runs) line.fail("server {} runs already", index);
    world_->start_server(index);
  }
}

void Player::fault_of_store(Line& line) {
  const std::string& what = line.word(0, "ok, fails or slow");
  MemHooks& hooks = world_->database().hooks;
  hooks = {};
  if (what == "fails") {
    hooks.fault = [] { return MemFault::fail_before; };
  } else if (what == "loses_answers") {
    hooks.fault = [] { return MemFault::fail_after; };
  } else if (what != "ok") {
    line.fail("store: ok, fails or loses_answers, not '{}'", what);
  }
}

// ---- time

void Player::run_for(Duration time) {
  world_->timeline().run_until(world_->timeline().now() + time);
}

void Player::advance(Line& line) { run_for(to_duration(line, line.word(0, "how long"))); }

// Runs until nobody comes or leaves any more, and nothing that matters has happened for a while.
void Player::settle(Line& line) {
  Duration quiet{0};
  for (Duration waited{0}; waited < kSettleMax; waited += kStep) {
    size_t before = world_->database().events().size();
    run_for(kStep);
    check(line);
    const std::vector<Event>& events = world_->database().events();
    bool is_quiet = std::all_of(events.begin() + static_cast<ptrdiff_t>(before), events.end(),
                                [](const Event& event) { return is_chatter(event.body); });
    quiet = is_quiet && !is_in_motion() ? quiet + kStep : 0s;
    if (quiet >= kQuiet) return;
  }
  line.fail("does not settle: {}", stuck());
}

bool Player::is_in_motion() {
  Controller* leader = world_->leader();
  if (leader == nullptr) return true;
  return std::ranges::any_of(leader->state().live(), [&](JobId id) {
    const Attempt& attempt = *leader->state().find(id)->attempt;
    return attempt.end || attempt.state != AttemptState::running;
  });
}

// ---- the end

const Job& Player::job(const Line& line, const std::string& name) {
  auto id = jobs_.find(name);
  if (id == jobs_.end()) line.fail("job {} was never submitted", name);
  auto row = world_->database().jobs().find(id->second);
  if (row == world_->database().jobs().end()) line.fail("acknowledged job {} is not stored", name);
  return row->second;
}

std::string Player::stuck() {
  Controller* leader = world_->leader();
  if (leader == nullptr) return "no server leads";
  std::string text;
  for (const auto& [id, job] : leader->state().jobs()) {
    if (job.is_terminal()) continue;
    JobView view = view_job(leader->state(), job, leader->soft_facts());
    text += fmt::format("\n  {} is {}, attempt {} {}{}{}", view.name, to_string(view.state),
                        view.attempt, view.attempt_state, view.pending_reason ? ": " : "",
                        view.pending_reason ? view.pending_reason->text : "");
  }
  return text;
}

// Whatever a scenario has broken, it must be possible to end every job once it is healed.
void Player::prove_liveness(const Line& last) {
  world_->database().hooks = {};
  world_->network().heal_all();
  for (int i = 0; i < world_->server_count(); ++i) {
    if (!world_->server_runs(i)) world_->start_server(i);
  }
  for (int i = 0; i < world_->node_count(); ++i) {
    if (!world_->agent_runs(i)) world_->start_agent(i);
  }
  run_for(1min);
  refusal_.clear();
  for (int i = 0; i < world_->node_count(); ++i)
    ask(last, "ann", UndrainNode{world_->node_name(i)});
  for (Duration waited{0}; waited < kLivenessMax; waited += 1min) {
    check(last);
    bool all_ended = true;
    for (const auto& [name, id] : jobs_) {
      const Job& each = job(last, name);
      all_ended = all_ended && each.is_terminal();
      if (each.is_terminal()) continue;
      if (each.held) ask(last, "ann", ReleaseJob{std::to_string(id.value)});
      if (each.failed_dependency) ask(last, "ann", StopJob{std::to_string(id.value), ""});
    }
    if (all_ended) break;
    if (waited + 1min >= kLivenessMax) last.fail("liveness: jobs do not end:{}", stuck());
    run_for(1min);
  }
  run_for(2min);
  if (world_->checkers().live_processes() != 0)
    last.fail("{} processes outlive their jobs", world_->checkers().live_processes());
  world_->checkers().check_log(world_->database(), world_->knobs());
  check(last);
}

}  // namespace hai::test
