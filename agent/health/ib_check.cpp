#include "agent/health/ib_check.h"

#include <algorithm>
#include <set>

#include "agent/health/results.h"

namespace hai {

namespace {
constexpr size_t kPortsWatchedMax = 128;  // with those that are gone
}  // namespace

IbCheck::IbCheck(IbCheckOptions options)
    : Check("ib", {.period = 5s, .deadline = 5s}), options_(std::move(options)) {}

CheckMemory IbCheck::memory() const {
  CheckMemory memory;
  for (const auto& [name, port] : ports_) {
    port.history.remember(name, memory);
    if (port.flaps > 0) memory.of_boot[name]["flapped_at"] = {to_micros(port.flapped_at)};
  }
  return memory;
}

void IbCheck::restore(const CheckMemory& memory) {
  std::set<std::string> names;
  for (const CheckFacts* facts : {&memory.lasting, &memory.of_boot}) {
    for (const auto& [name, fields] : *facts) names.insert(name);
  }
  for (const std::string& name : names) {
    const std::string device = name.substr(0, name.find('/'));
    const bool is_excluded = std::find(options_.excluded.begin(), options_.excluded.end(),
                                       device) != options_.excluded.end();
    if (is_excluded || ports_.size() >= kPortsWatchedMax) continue;
    Port& port = ports_[name];
    port.history.restore(name, memory);
    port.flaps = port.history.flaps();
    port.flapped_at = unix_micros(number_of(memory.of_boot, name, "flapped_at").value_or(0));
  }
}

void IbCheck::sample(MonoTime now) {
  const Duration window = options_.limits.ib_flap_minutes * 1min;
  std::map<std::string, IbPort> seen;
  for (IbPort& port : read_ib_ports(options_.sys_root, options_.excluded)) {
    std::string name = port.name;
    if (ports_.size() < kPortsWatchedMax) ports_.try_emplace(name);
    seen.emplace(std::move(name), std::move(port));
  }
  for (const auto& [name, rate] : options_.expected_gigabits) ports_.try_emplace(name);
  for (auto& [name, known] : ports_) {
    const auto port = seen.find(name);
    known.history.add(now, port == seen.end() ? std::nullopt : std::optional(port->second), window);
  }
}

CheckResult IbCheck::judge_traffic(const CheckInput& input) {
  const CheckSubject about{.name = "ib_traffic", .subject = {}, .gpus = {}};
  if (!input.use.has_distributed_rank) {
    distributed_since_.reset();
    return make_ok(about, "no job of several nodes runs here");
  }
  if (!distributed_since_) distributed_since_ = input.now;
  Duration idle = input.now - *distributed_since_;
  for (const auto& [name, port] : ports_) idle = std::min(idle, port.history.idle_for(input.now));
  const Duration limit = options_.limits.ib_idle_minutes * 1min;
  if (idle < limit) return make_ok(about, "data comes in");
  return make_warn(
      about, {.summary = fmt::format("no data received for {} min under a job of several nodes, "
                                     "limit {} min: it may hang",
                                     idle / 1min, limit / 1min),
              .remedy = "look whether the job hangs: hai logs, hai why"});
}

CheckResult IbCheck::judge_flaps(const std::string& name, Port& port, UnixTime wall_now) const {
  CheckResult result = judge_ib_flaps(name, port.history, options_.limits);
  const int64_t flaps = port.history.flaps();
  if (flaps > port.flaps) port.flapped_at = wall_now;
  port.flaps = flaps;
  if (flaps > 0) result.at = port.flapped_at;
  return result;
}

std::vector<CheckResult> IbCheck::run(const CheckInput& input) {
  sample(input.now);
  if (ports_.empty()) {
    return {make_unknown({.name = "ib_link", .subject = {}, .gpus = {}},
                         {.summary = "no such hardware",
                          .remedy = "none; if it should have some: health.expect.infiniband"})};
  }
  std::vector<CheckResult> results;
  for (auto& [name, port] : ports_) {
    const auto expected = options_.expected_gigabits.find(name);
    const bool is_required = expected != options_.expected_gigabits.end();
    results.push_back(judge_ib_link(
        name, port.history,
        {.is_required = is_required, .rate_gigabits = is_required ? expected->second : 0},
        options_.limits, input.now));
    results.push_back(judge_flaps(name, port, input.wall_now));
    results.push_back(judge_ib_errors(name, port.history, options_.limits));
  }
  results.push_back(judge_traffic(input));
  return results;
}

}  // namespace hai
