#include "agent/os/status_json.h"

#include <nlohmann/json.hpp>

#include "agent/os/whole_json.h"

namespace hai {

namespace {

using Json = nlohmann::json;

template <typename Enum>
Enum enum_from_json(const Json& json, std::initializer_list<Enum> values) {
  const auto& text = json.get_ref<const std::string&>();
  for (const Enum value : values) {
    if (to_string(value) == text) return value;
  }
  throw std::invalid_argument("unknown word " + text);
}

RankPhase phase_from_json(const Json& json) {
  return enum_from_json(json, {RankPhase::starting, RankPhase::running, RankPhase::exited});
}

ExitCause cause_from_json(const Json& json) {
  return enum_from_json(json, {ExitCause::none, ExitCause::program, ExitCause::go_suspend,
                               ExitCause::grace_over, ExitCause::killed, ExitCause::fenced,
                               ExitCause::launch_failed, ExitCause::lost, ExitCause::left});
}

UnixTime time_from_json(const Json& json) { return unix_micros(whole(json)); }

CheckpointInfo checkpoint_from_json(const Json& json) {
  return {.step = whole(json.at("step")),
          .path = json.at("path").get<std::string>(),
          .save_seconds = json.at("save_seconds").get<double>(),
          .at = time_from_json(json.at("at_us"))};
}

RankStatus parse_status(const Json& json) {
  RankStatus status;
  status.key = {.job = {whole(json.at("job"))},
                .attempt = whole_int(json.at("attempt")),
                .rank = whole_int(json.at("rank"))};
  status.phase = phase_from_json(json.at("phase"));
  status.suspend_notified = json.at("suspend_notified").get<bool>();
  status.uses_sdk = json.value("uses_sdk", true);  // an older shim does not say: it may
  status.cause = cause_from_json(json.at("cause"));
  status.exit_code = whole_int(json.at("exit_code"));
  status.message = json.at("message").get<std::string>();
  status.started_at = time_from_json(json.at("started_at_us"));
  status.ended_at = time_from_json(json.at("ended_at_us"));
  if (json.contains("checkpoint")) status.checkpoint = checkpoint_from_json(json["checkpoint"]);
  if (json.contains("progress_step")) status.progress_step = whole(json["progress_step"]);
  if (json.contains("metrics")) status.metrics = json["metrics"].get<RankMetrics>();
  if (json.contains("word_at_us")) status.word_at = time_from_json(json["word_at_us"]);
  if (json.contains("whole_life_state")) {
    status.whole_life_state = json["whole_life_state"].get<std::string>();
  }
  if (json.contains("usage")) {
    const Json& usage = json["usage"];
    status.usage =
        RankUsage{Duration(whole(usage.at("cpu_time_us"))), whole(usage.at("peak_memory_bytes"))};
  }
  return status;
}

Json make_json(const RankStatus& status) {
  Json json = {{"job", status.key.job.value},
               {"attempt", status.key.attempt},
               {"rank", status.key.rank},
               {"phase", to_string(status.phase)},
               {"suspend_notified", status.suspend_notified},
               {"uses_sdk", status.uses_sdk},
               {"cause", to_string(status.cause)},
               {"exit_code", status.exit_code},
               {"message", status.message},
               {"started_at_us", to_micros(status.started_at)},
               {"ended_at_us", to_micros(status.ended_at)}};
  if (status.checkpoint) {
    json["checkpoint"] = {{"step", status.checkpoint->step},
                          {"path", status.checkpoint->path},
                          {"save_seconds", status.checkpoint->save_seconds},
                          {"at_us", to_micros(status.checkpoint->at)}};
  }
  if (status.progress_step) json["progress_step"] = *status.progress_step;
  if (!status.metrics.empty()) json["metrics"] = status.metrics;
  if (status.word_at) json["word_at_us"] = to_micros(*status.word_at);
  if (status.whole_life_state) json["whole_life_state"] = *status.whole_life_state;
  if (status.usage) {
    json["usage"] = {{"cpu_time_us", status.usage->cpu_time.count()},
                     {"peak_memory_bytes", status.usage->peak_memory_bytes}};
  }
  return json;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string status_to_json(const RankStatus& status) { return dump(make_json(status)); }

Result<RankStatus> status_from_json(std::string_view text) {
  try {
    return parse_status(Json::parse(text));
  } catch (const std::exception& error) {
    return invalid_argument("not the status of a rank: {}", error.what());
  }
}

std::string make_status_line(const RankStatus& status) {
  return dump({{"status", make_json(status)}});
}

Result<std::optional<RankStatus>> parse_status_line(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    if (!json.contains("status")) return std::optional<RankStatus>();
    return std::optional(parse_status(json["status"]));
  } catch (const std::exception& error) {
    return invalid_argument("not a line of a shim: {}", error.what());
  }
}

}  // namespace hai
