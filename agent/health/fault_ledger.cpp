#include "agent/health/fault_ledger.h"

#include <algorithm>

namespace hai {

namespace {

bool stands_for_good(HealthTier tier) { return tier >= HealthTier::validate; }

bool is_shown(const StandingFault& fault, UnixTime now) {
  return stands_for_good(tier_of(fault)) || now - fault.event.at <= FaultLedger::kStands;
}

// Longer than it is shown, if it will be worth more when it comes again.
bool is_remembered(const StandingFault& fault, UnixTime now) {
  const std::optional<RepeatRule>& repeats = fault.event.rule.repeats;
  return is_shown(fault, now) || (repeats && now - fault.event.at <= repeats->within);
}

FaultLedger::Key key_of(const FaultEvent& event) { return {event.about.name, event.about.subject}; }

void add_line(StandingFault& fault, const std::string& line) {
  if (fault.lines.size() >= FaultLedger::kLinesMax) fault.lines.erase(fault.lines.begin() + 1);
  fault.lines.push_back(line);
}

std::string sentence(const StandingFault& fault, HealthTier tier) {
  const FaultRule& rule = fault.event.rule;
  std::string text = fault.event.what.empty()
                         ? rule.meaning
                         : fmt::format("{}: {}", fault.event.what, rule.meaning);
  if (fault.count > 1) text += fmt::format(", {} times", fault.count);
  if (tier != rule.tier && rule.repeats) {
    text += fmt::format(" (limit {} in {})", rule.repeats->count,
                        format_duration(rule.repeats->within));
  }
  return text;
}

CheckResult to_result(const StandingFault& fault) {
  const HealthTier tier = tier_of(fault);
  std::string evidence;
  for (const std::string& line : fault.lines) evidence += line + "\n";
  const CheckFinding finding{.summary = sentence(fault, tier),
                             .remedy = fault.event.rule.remedy,
                             .evidence = std::move(evidence)};
  CheckResult result = tier == HealthTier::log ? make_warn(fault.event.about, finding)
                                               : make_fail(fault.event.about, tier, finding);
  result.at = fault.event.at;
  result.said_kind->is_latched = true;  // a site's own rules have names that nobody else knows
  return result;
}

}  // namespace

HealthTier tier_of(const StandingFault& fault) {
  const FaultRule& rule = fault.event.rule;
  if (!rule.repeats) return rule.tier;
  const UnixTime since = fault.event.at - rule.repeats->within;
  const auto recent = std::count_if(fault.times.begin(), fault.times.end(),
                                    [&](UnixTime time) { return time > since; });
  return recent >= rule.repeats->count ? std::max(rule.tier, rule.repeats->tier) : rule.tier;
}

bool FaultLedger::is_echo_of_another(const FaultEvent& event) const {
  if (!event.rule.follows || event.group.empty()) return false;
  return std::any_of(faults_.begin(), faults_.end(), [&](const auto& entry) {
    const FaultEvent& other = entry.second.event;
    return other.group == event.group && entry.first != key_of(event) && other.at <= event.at &&
           event.at - other.at < kEchoes;
  });
}

void FaultLedger::add(const FaultEvent& event) {
  const Key key = key_of(event);
  if (const auto done = cleared_.find(key); done != cleared_.end() && event.at <= done->second)
    return;
  if (is_echo_of_another(event)) return;
  const auto found = faults_.find(key);
  if (found == faults_.end()) {
    if (faults_.size() >= kFaultsMax) {
      ++left_out_;
      return;
    }
    faults_.emplace(
        key, StandingFault{.event = event, .count = 1, .times = {event.at}, .lines = {event.line}});
    return;
  }
  StandingFault& fault = found->second;
  add_line(fault, event.line);
  // A negative time means that the clock was set back; then the fault counts as a new one.
  const Duration since = event.at - fault.event.at;
  if (since >= Duration(0) && since < kEchoes) return;
  fault.event = event;
  ++fault.count;
  if (fault.times.size() >= kTimesMax) fault.times.erase(fault.times.begin());
  fault.times.push_back(event.at);
}

void FaultLedger::clear(const ClearedFault& cleared) {
  const Key key(cleared.name, cleared.subject);
  const auto found = faults_.find(key);
  if (found != faults_.end() && found->second.event.at <= cleared.at) faults_.erase(found);
  if (cleared_.size() >= kFaultsMax && !cleared_.contains(key)) {
    cleared_.erase(
        std::min_element(cleared_.begin(), cleared_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; }));
  }
  UnixTime& at = cleared_[key];
  at = std::max(at, cleared.at);
}

std::vector<CheckResult> FaultLedger::results(UnixTime now) {
  std::erase_if(faults_, [&](const auto& entry) { return !is_remembered(entry.second, now); });
  std::vector<CheckResult> results;
  for (const auto& [key, fault] : faults_) {
    if (is_shown(fault, now)) results.push_back(to_result(fault));
  }
  return results;
}

void FaultLedger::restore(std::map<Key, StandingFault> faults, std::map<Key, UnixTime> cleared) {
  faults_ = std::move(faults);
  cleared_ = std::move(cleared);
}

}  // namespace hai
