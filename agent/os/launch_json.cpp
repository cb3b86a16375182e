#include <nlohmann/json.hpp>

#include "agent/os/launch_file.h"
#include "agent/os/whole_json.h"
#include "common/hex.h"

namespace hai {

namespace {

using Json = nlohmann::json;

Json key_to_json(const RankKey& key) {
  return {{"job", key.job.value}, {"attempt", key.attempt}, {"rank", key.rank}};
}

RankKey key_from_json(const Json& json) {
  return {.job = {whole(json.at("job"))},
          .attempt = whole_int(json.at("attempt")),
          .rank = whole_int(json.at("rank"))};
}

// Older agents wrote none, or fewer: what is missing has its default.
ProgramOptions program_from_json(const Json& json) {
  ProgramOptions program;
  const Json options = json.value("program", Json::object());
  ProgramOptions::fields(
      program, [&](const char* name, auto& value) { value = options.value(name, value); });
  return program;
}

Json program_to_json(const ProgramOptions& program) {
  Json json = Json::object();
  ProgramOptions::fields(program, [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

// An agent of before wrote none.
Confinement confinement_from_json(const Json& launch) {
  Confinement confinement;
  const Json json = launch.value("confinement", Json::object());
  confinement.system_users = json.value("system_users", confinement.system_users);
  confinement.drops_privileges = json.value("drops_privileges", false);
  confinement.allowed_calls = json.value("allowed_calls", confinement.allowed_calls);
  confinement.has_own_mounts = json.value("has_own_mounts", false);
  confinement.kept_paths = json.value("kept_paths", confinement.kept_paths);
  confinement.counts_gpus_from_zero = json.value("counts_gpus_from_zero", false);
  return confinement;
}

Json confinement_to_json(const Confinement& confinement) {
  return {{"system_users", confinement.system_users},
          {"drops_privileges", confinement.drops_privileges},
          {"allowed_calls", confinement.allowed_calls},
          {"has_own_mounts", confinement.has_own_mounts},
          {"kept_paths", confinement.kept_paths},
          {"counts_gpus_from_zero", confinement.counts_gpus_from_zero}};
}

// An agent of before wrote none.
ImageSettings images_from_json(const Json& launch) {
  ImageSettings images;
  const Json json = launch.value("images", Json::object());
  images.store = json.value("store", images.store);
  images.bytes_max = json.value("bytes_max", images.bytes_max);
  images.mounts = json.value("mounts", images.mounts);
  images.allowed_mounts = json.value("allowed_mounts", images.allowed_mounts);
  images.cdi = json.value("cdi", images.cdi);
  images.gpu_device = json.value("gpu_device", images.gpu_device);
  images.patience = json.value("patience_us", images.patience / 1us) * Duration(1us);
  images.environment = json.value("environment", images.environment);
  return images;
}

Json images_to_json(const ImageSettings& images) {
  return {{"store", images.store},
          {"bytes_max", images.bytes_max},
          {"mounts", images.mounts},
          {"allowed_mounts", images.allowed_mounts},
          {"cdi", images.cdi},
          {"gpu_device", images.gpu_device},
          {"patience_us", images.patience / 1us},
          {"environment", images.environment}};
}

// Files of agents before 2026-12 say it in the environment only, which the job may have changed.
GpuSet gpus_from_json(const Json& json) {
  const Json& text = json.contains("gpus")
                         ? json.at("gpus")
                         : json.at("processes").at(0).at("environment").at("CUDA_VISIBLE_DEVICES");
  const Result<GpuSet> gpus = parse_gpu_set(text.get<std::string>());
  if (!gpus.is_ok() && json.contains("gpus")) throw std::invalid_argument(gpus.status().message());
  return gpus.is_ok() ? gpus.value() : GpuSet();
}

LaunchFile parse_launch(const Json& json) {
  LaunchFile launch;
  launch.key = key_from_json(json.at("key"));
  launch.proof = from_hex(json.value("proof", std::string())).value_or("");
  launch.user = json.at("user").get<std::string>();
  launch.unknown_user_runs_as_self = json.at("unknown_user_runs_as_self").get<bool>();
  launch.workspace = json.at("workspace").get<std::string>();
  launch.entrypoint = json.at("entrypoint").get<std::string>();
  for (const Json& process : json.at("processes")) {
    launch.processes.push_back({.argv = process.at("argv").get<std::vector<std::string>>(),
                                .environment = process.at("environment").get<Environment>()});
  }
  launch.gpus = gpus_from_json(json);
  launch.suspend_signal = whole_int(json.at("suspend_signal"));
  launch.watchdog = Duration(whole(json.at("watchdog_us")));
  launch.lease_until = MonoTime(Duration(whole(json.at("lease_until_boottime_us"))));
  launch.whole_life_state = json.at("whole_life_state").get<std::string>();
  launch.log_dir = json.at("log_dir").get<std::string>();
  launch.log_limits = {.total_bytes_max = whole(json.at("log_total_bytes_max")),
                       .file_bytes_max = whole(json.at("log_file_bytes_max"))};
  launch.socket_dir = json.at("socket_dir").get<std::string>();
  launch.temp_dir = json.at("temp_dir").get<std::string>();
  launch.program = program_from_json(json);
  launch.cgroups = json.at("cgroups").get<std::vector<std::string>>();
  launch.cpus = json.value("cpus", std::vector<int>());
  launch.confinement = confinement_from_json(json);
  launch.image = json.value("image", std::string());
  launch.images = images_from_json(json);
  return launch;
}

}  // namespace

std::string launch_file_to_json(const LaunchFile& launch) {
  Json processes = Json::array();
  for (const LaunchProcess& process : launch.processes) {
    processes.push_back({{"argv", process.argv}, {"environment", process.environment}});
  }
  const Json json = {{"key", key_to_json(launch.key)},
                     {"proof", to_hex(launch.proof)},
                     {"user", launch.user},
                     {"unknown_user_runs_as_self", launch.unknown_user_runs_as_self},
                     {"workspace", launch.workspace},
                     {"entrypoint", launch.entrypoint},
                     {"processes", processes},
                     {"gpus", to_string(launch.gpus)},
                     {"suspend_signal", launch.suspend_signal},
                     {"watchdog_us", launch.watchdog.count()},
                     {"lease_until_boottime_us", launch.lease_until.time_since_epoch().count()},
                     {"whole_life_state", launch.whole_life_state},
                     {"log_dir", launch.log_dir},
                     {"log_total_bytes_max", launch.log_limits.total_bytes_max},
                     {"log_file_bytes_max", launch.log_limits.file_bytes_max},
                     {"socket_dir", launch.socket_dir},
                     {"temp_dir", launch.temp_dir},
                     {"program", program_to_json(launch.program)},
                     {"cgroups", launch.cgroups},
                     {"cpus", launch.cpus},
                     {"confinement", confinement_to_json(launch.confinement)},
                     {"image", launch.image},
                     {"images", images_to_json(launch.images)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<LaunchFile> launch_file_from_json(std::string_view text) {
  try {
    return parse_launch(Json::parse(text));
  } catch (const std::exception& error) {
    return invalid_argument("not a launch file: {}", error.what());
  }
}

}  // namespace hai
