#include "agent/health/fault_file.h"

#include <nlohmann/json.hpp>

#include "agent/os/files.h"

namespace hai {

namespace {

using Json = nlohmann::json;
constexpr size_t kFaultFileBytesMax = 8 << 20;

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

HealthTier tier_from(const Json& json, const char* field) {
  return parse_tier(json.value(field, std::string())).value_or(HealthTier::validate);
}

StandingFault standing_fault_from(const Json& json) {
  StandingFault fault;
  FaultEvent& event = fault.event;
  event.about = {.name = json.at("name"),
                 .subject = json.value("subject", std::string()),
                 .gpus = {json.value("gpus", uint64_t{0})}};
  event.what = json.value("what", std::string());
  event.group = json.value("group", std::string());
  event.at = unix_micros(json.value("at", int64_t{0}));
  event.rule = {.tier = tier_from(json, "tier"),
                .remedy = json.value("remedy", std::string("validate")),
                .meaning = json.value("meaning", std::string("a fault")),
                .follows = json.value("follows", false),
                .repeats = {}};
  if (json.contains("repeats")) {
    const Json& repeats = json.at("repeats");
    event.rule.repeats = {.count = repeats.at("count"),
                          .within = Duration(repeats.at("within").get<int64_t>()),
                          .tier = tier_from(repeats, "tier")};
  }
  fault.count = json.value("count", int64_t{1});
  fault.lines = json.value("lines", std::vector<std::string>());
  if (fault.lines.empty()) fault.lines = {""};
  if (fault.lines.size() > FaultLedger::kLinesMax) fault.lines.resize(FaultLedger::kLinesMax);
  for (const int64_t time : json.value("times", std::vector<int64_t>())) {
    if (fault.times.size() < FaultLedger::kTimesMax) fault.times.push_back(unix_micros(time));
  }
  return fault;
}

KeptFaults kept_from(const Json& json) {
  KeptFaults kept{.boot_id = json.at("boot_id"),
                  .last_sequence = json.value("last_sequence", int64_t{-1}),
                  .faults = {},
                  .cleared = {},
                  .damage = {}};
  // An entry that cannot be read is left out; the others are kept.
  const auto read_each = [&](const char* list, const auto& read) {
    for (const Json& item : json.value(list, Json::array())) {
      try {
        read(item);
      } catch (const Json::exception& error) {
        kept.damage = error.what();
      }
    }
  };
  read_each("faults", [&](const Json& item) {
    if (kept.faults.size() >= FaultLedger::kFaultsMax) return;
    StandingFault fault = standing_fault_from(item);
    const FaultLedger::Key key(fault.event.about.name, fault.event.about.subject);
    kept.faults.emplace(key, std::move(fault));
  });
  read_each("cleared", [&](const Json& item) {
    if (kept.cleared.size() >= FaultLedger::kFaultsMax) return;
    kept.cleared[{item.at("name"), item.at("subject")}] = unix_micros(item.at("at"));
  });
  return kept;
}

}  // namespace

Result<KeptFaults> read_fault_file(const std::string& path) {
  const Result<std::string> text = read_file(path, kFaultFileBytesMax);
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
