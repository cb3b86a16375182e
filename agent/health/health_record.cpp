#include "agent/health/health_record.h"

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "agent/health/fault_rule.h"
#include "agent/os/files.h"

namespace hai {

namespace {

using Json = nlohmann::json;
constexpr size_t kRecordBytesMax = 8 << 20;
constexpr size_t kFaultsMax = 512;  // of a check
constexpr Duration kPatienceForLastRecord = 1s;

Json to_json(const CheckResult& fault) {
  return {{"name", fault.name},
          {"subject", fault.subject},
          {"tier", to_string(fault.tier)},
          {"text", fault.summary},
          {"evidence", fault.evidence},
          {"gpus", fault.gpus.bits},
          {"at", to_micros(fault.at)},
          {"is_latched", fault.kind().is_latched}};
}

CheckResult failed_check_from(const Json& json) {
  const std::string name = json.at("name");
  CheckKind kind = check_kind_of(name);
  kind.is_latched = json.value("is_latched", kind.is_latched);
  return {.name = name,
          .subject = json.value("subject", std::string()),
          .verdict = CheckVerdict::fail,
          .tier = parse_tier(json.value("tier", std::string())).value_or(HealthTier::validate),
          .summary = json.value("text", std::string("seen by the agent before this one")),
          .evidence = json.value("evidence", std::string()),
          .gpus = {json.value("gpus", uint64_t{0})},
          .at = unix_micros(json.value("at", int64_t{0})),
          .said_kind = kind};
}

CheckRecord check_from(const Json& json, bool is_this_boot) {
  CheckRecord check;
  check.memory.lasting = json.value("lasting", CheckFacts());
  if (is_this_boot) check.memory.of_boot = json.value("of_boot", CheckFacts());
  for (const Json& fault : json.value("faults", Json::array())) {
    if (check.faults.size() < kFaultsMax) check.faults.push_back(failed_check_from(fault));
  }
  return check;
}

}  // namespace

Result<HealthRecord> read_health_record(const std::string& path, const std::string& boot_id) {
  const Result<std::string> text = read_file(path, kRecordBytesMax);
  if (!text.is_ok()) return text.status();
  HealthRecord record{.boot_id = boot_id, .checks = {}, .damage = {}};
  try {
    const Json json = Json::parse(text.value());
    const bool is_this_boot = !boot_id.empty() && json.value("boot_id", std::string()) == boot_id;
    for (const auto& [name, check] : json.at("checks").items()) {
      try {
        record.checks[name] = check_from(check, is_this_boot);
      } catch (const Json::exception& error) {
        record.damage = fmt::format("{}: {}: {}", path, name, error.what());
      }
    }
  } catch (const Json::exception& error) {
    return invalid_argument("{}: {}", path, error.what());
  }
  return record;
}

Status write_health_record(const std::string& path, const HealthRecord& record) {
  Json checks = Json::object();
  for (const auto& [name, check] : record.checks) {
    Json faults = Json::array();
    for (const CheckResult& fault : check.faults) faults.push_back(to_json(fault));
    checks[name] = {{"lasting", check.memory.lasting},
                    {"of_boot", check.memory.of_boot},
                    {"faults", std::move(faults)}};
  }
  const Json json = {{"boot_id", record.boot_id}, {"checks", std::move(checks)}};
  return write_file_atomic(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n",
                           0600, Durability::survives_crash_of_machine);
}

struct HealthRecordWriter::Desk {
  std::string path;
  std::mutex mutex;
  std::condition_variable done;
  std::optional<HealthRecord> next;
  bool is_at_work = false;
  Status status;
};

HealthRecordWriter::HealthRecordWriter(std::string path, StartWork start_work)
    : start_work_(std::move(start_work)), desk_(std::make_shared<Desk>()) {
  desk_->path = std::move(path);
}

HealthRecordWriter::~HealthRecordWriter() {
  std::unique_lock lock(desk_->mutex);
  desk_->done.wait_for(lock, kPatienceForLastRecord, [this] { return !desk_->is_at_work; });
}

void HealthRecordWriter::write(HealthRecord record) {
  const std::lock_guard lock(desk_->mutex);
  desk_->next = std::move(record);
  if (desk_->is_at_work) return;  // It writes `next` when the present record is written.
  desk_->is_at_work = start_work_([desk = desk_] { work(*desk); });
  if (!desk_->is_at_work) desk_->status = unavailable("cannot start a thread");
}

void HealthRecordWriter::work(Desk& desk) {
  std::unique_lock lock(desk.mutex);
  while (desk.next) {
    const HealthRecord record = *std::exchange(desk.next, std::nullopt);
    lock.unlock();
    Status status = write_health_record(desk.path, record);
    lock.lock();
    desk.status = std::move(status);
  }
  desk.is_at_work = false;
  desk.done.notify_all();
}

Status HealthRecordWriter::status() const {
  const std::lock_guard lock(desk_->mutex);
  return desk_->status;
}

}  // namespace hai
