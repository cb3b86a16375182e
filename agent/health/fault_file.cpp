#include "agent/health/fault_file.h"

#include <nlohmann/json.hpp>

#include "agent/os/files.h"

namespace hai {

namespace {

using Json = nlohmann::json;
constexpr size_t kFileBytesMax = 8 << 20;

Json to_json(const StandingFault& fault) {
  const FaultEvent& event = fault.event;
  Json json = {{"name", event.about.name},
               {"subject", event.about.subject},
               {"gpus", event.about.gpus.bits},
               {"what", event.what},
               {"group", event.group},
               {"at", to_micros(event.at)},
               {"tier", to_string(event.rule.tier)},
               {"remedy", event.rule.remedy},
               {"meaning", event.rule.meaning},
               {"follows", event.rule.follows},
               {"count", fault.count},
               {"lines", fault.lines},
               {"times", Json::array()}};
  for (const UnixTime time : fault.times) json["times"].push_back(to_micros(time));
  if (event.rule.repeats) {
    json["repeats"] = {{"count", event.rule.repeats->count},
                       {"within", event.rule.repeats->within.count()},
                       {"tier", to_string(event.rule.repeats->tier)}};
  }
  return json;
}

StandingFault fault_from(const Json& json) {
  StandingFault fault;
  FaultEvent& event = fault.event;
  event.about = {.name = json.at("name"), .subject = json.at("subject"), .gpus = {json.at("gpus")}};
  event.what = json.at("what");
  event.group = json.at("group");
  event.at = unix_micros(json.at("at"));
  event.rule = {
      .tier = parse_tier(json.at("tier").get<std::string>()).value_or(HealthTier::validate),
      .remedy = json.at("remedy"),
      .meaning = json.at("meaning"),
      .follows = json.at("follows"),
      .repeats = {}};
  if (json.contains("repeats")) {
    const Json& repeats = json.at("repeats");
    event.rule.repeats = {
        .count = repeats.at("count"),
        .within = Duration(repeats.at("within").get<int64_t>()),
        .tier = parse_tier(repeats.at("tier").get<std::string>()).value_or(HealthTier::validate)};
  }
  fault.count = json.at("count");
  fault.lines = json.at("lines").get<std::vector<std::string>>();
  for (const Json& time : json.at("times")) fault.times.push_back(unix_micros(time));
  return fault;
}

KeptFaults kept_from(const Json& json) {
  KeptFaults kept{.boot_id = json.at("boot_id"),
                  .last_sequence = json.at("last_sequence"),
                  .faults = {},
                  .cleared = {}};
  for (const Json& item : json.at("faults")) {
    if (kept.faults.size() >= FaultLedger::kFaultsMax) break;
    StandingFault fault = fault_from(item);
    if (fault.lines.empty() || fault.lines.size() > FaultLedger::kLinesMax ||
        fault.times.size() > FaultLedger::kTimesMax)
      continue;
    const FaultLedger::Key key(fault.event.about.name, fault.event.about.subject);
    kept.faults.emplace(key, std::move(fault));
  }
  for (const Json& item : json.at("cleared")) {
    if (kept.cleared.size() >= FaultLedger::kFaultsMax) break;
    kept.cleared[{item.at("name"), item.at("subject")}] = unix_micros(item.at("at"));
  }
  return kept;
}

}  // namespace

Result<KeptFaults> read_fault_file(const std::string& path) {
  const Result<std::string> text = read_file(path, kFileBytesMax);
  if (!text.is_ok()) return text.status();
  try {
    return kept_from(Json::parse(text.value()));
  } catch (const Json::exception& error) {
    return invalid_argument("{}: {}", path, error.what());
  }
}

Status write_fault_file(const std::string& path, const KeptFaults& kept) {
  Json json = {{"boot_id", kept.boot_id},
               {"last_sequence", kept.last_sequence},
               {"faults", Json::array()},
               {"cleared", Json::array()}};
  for (const auto& [key, fault] : kept.faults) json["faults"].push_back(to_json(fault));
  for (const auto& [key, at] : kept.cleared) {
    json["cleared"].push_back(
        {{"name", key.first}, {"subject", key.second}, {"at", to_micros(at)}});
  }
  // An end of the machine makes it worthless anyway.
  return write_file_atomic(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n",
                           0600, Durability::survives_crash_of_program);
}

}  // namespace hai
