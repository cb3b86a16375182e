#include "cli/slurm/json_views.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/job_view.h"
#include "cli/slurm/job_words.h"
#include "cli/slurm/node_words.h"
#include "common/hostlist.h"
#include "common/version.h"

namespace hai::cli::slurm {
namespace {

using Json = nlohmann::ordered_json;

// Slurm's numbers that may be missing or without bound.
Json number(int64_t value) { return {{"set", true}, {"infinite", false}, {"number", value}}; }
Json no_number(bool is_infinite = false) {
  return {{"set", !is_infinite ? false : true}, {"infinite", is_infinite}, {"number", 0}};
}
Json seconds_or_none(bool is_there, int64_t micros) {
  return is_there ? number(micros / 1'000'000) : no_number();
}

std::string upper_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return out;
}

Json exit_code(const v1::Job& job) {
  if (!job.has_exit_code()) {
    return {
        {"status", {"PENDING"}}, {"return_code", no_number()}, {"signal", {{"id", no_number()}}}};
  }
  const int code = job.exit_code();
  if (code > 128) {
    return {{"status", {"SIGNALED"}},
            {"return_code", no_number()},
            {"signal", {{"id", number(code - 128)}}}};
  }
  return {{"status", {code == 0 ? "SUCCESS" : "ERROR"}},
          {"return_code", number(code)},
          {"signal", {{"id", no_number()}}}};
}

Json minutes_of_limit(const v1::Job& job) {
  if (!job.has_spec()) return no_number();
  const int64_t micros = job.spec().timeout_us();
  return micros == 0 ? no_number(true) : number((micros + 59'999'999) / 60'000'000);
}

Json step_object(const AccountRow& row, UnixTime now) {
  const v1::Job& step = row.job;
  return {
      {"step", {{"id", {{"job_id", step.id()}, {"step_id", row.step}}}, {"name", row.step_name}}},
      {"state", {state_of(step).name}},
      {"time",
       {{"elapsed", time_run(step, now) / 1s},
        {"start", seconds_or_none(step.has_started_at_us(), step.started_at_us())},
        {"end", seconds_or_none(step.has_ended_at_us(), step.ended_at_us())},
        {"total", {{"seconds", step.cpu_seconds()}}}}},
      {"exit_code", exit_code(step)},
      {"nodes",
       {{"count", step.node_count()},
        {"range", format_hostlist({step.nodes().begin(), step.nodes().end()})}}},
      {"tasks", {{"count", row.tasks}}}};
}

Json job_object(const v1::Job& job) {
  const std::string nodes = format_hostlist({job.nodes().begin(), job.nodes().end()});
  const UnixTime now = unix_micros(0);  // of no letter that is asked for here
  return {{"job_id", job.id()},
          {"name", job.name()},
          {"user_name", job.user()},
          {"account", ""},
          {"partition", job.group()},
          {"qos", job.priority()},
          {"priority", number(std::stoll(job_value(job, 'Q', now)))},
          {"job_state", {state_of(job).name}},
          {"state_reason", reason_word(job)},
          {"state_description",
           job.has_pending_reason() ? job.pending_reason().text() : job.end_reason()},
          {"hold", job.held()},
          {"requeue", true},
          {"restart_cnt", std::max(0, job.attempt() - 1)},
          {"batch_flag", true},
          {"batch_host", job.nodes_size() > 0 ? job.nodes(0) : ""},
          {"nodes", nodes},
          {"node_count", number(job.node_count())},
          {"tres_per_node", gres_text(job)},
          {"dependency", job_value(job, 'E', now) == "(null)" ? "" : job_value(job, 'E', now)},
          {"submit_time", number(job.submitted_at_us() / 1'000'000)},
          {"start_time", seconds_or_none(job.has_started_at_us(), job.started_at_us())},
          {"end_time", seconds_or_none(job.has_ended_at_us(), job.ended_at_us())},
          {"time_limit", minutes_of_limit(job)},
          {"exit_code", exit_code(job)},
          {"command", job.entrypoint()},
          {"current_working_directory", job.workspace()},
          {"comment", ""}};
}

std::string document(const char* name, Json list) {
  Json whole = {{name, std::move(list)},
                {"meta",
                 {{"plugin", {{"type", "hai"}, {"name", fmt::format("hai-slurm {}", version())}}},
                  {"slurm", {{"cluster", "hai"}, {"release", "23.11"}}}}},
                {"errors", Json::array()},
                {"warnings", Json::array()}};
  return whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string jobs_document(const std::vector<v1::Job>& jobs) {
  Json list = Json::array();
  for (const v1::Job& job : jobs) list.push_back(job_object(job));
  return document("jobs", std::move(list));
}

std::string nodes_document(const std::vector<v1::Node>& nodes) {
  std::map<std::pair<std::string, std::string>, std::vector<const v1::Node*>> groups;
  for (const v1::Node& node : nodes) {
    groups[{node.group(), std::string(node_state(node).name)}].push_back(&node);
  }
  Json list = Json::array();
  for (const auto& [key, members] : groups) {
    const bool is_busy = key.second == "allocated" || key.second == "mixed";
    const auto count = static_cast<int64_t>(members.size());
    Json names = Json::array();
    int64_t cpus = 0;
    for (const v1::Node* node : members) {
      names.push_back(node->name());
      cpus += node->cpus();
    }
    const auto counts = [&](int64_t all) {
      const bool is_idle = key.second == "idle";
      return Json{{"allocated", is_busy ? all : 0},
                  {"idle", is_idle ? all : 0},
                  {"other", is_busy || is_idle ? 0 : all},
                  {"total", all}};
    };
    Json state = {upper_case(key.second)};
    if (!node_state(*members[0]).answers) state.push_back("NOT_RESPONDING");
    Json about_nodes = counts(count);
    about_nodes["nodes"] = std::move(names);
    list.push_back({{"partition", {{"name", key.first}}},
                    {"node", {{"state", std::move(state)}}},
                    {"nodes", std::move(about_nodes)},
                    {"cpus", counts(cpus)},
                    {"memory", {{"minimum", members[0]->memory_bytes() >> 20}}},
                    {"gres", {{"total", fmt::format("gpu:{}", members[0]->gpus())}}},
                    {"reason", {{"description", members[0]->reason()}}},
                    {"cluster", "hai"}});
  }
  return document("sinfo", std::move(list));
}

std::string accounts_document(const std::vector<AccountRow>& rows, UnixTime now) {
  Json list = Json::array();
  for (const AccountRow& row : rows) {
    const v1::Job& job = row.job;
    if (!row.step.empty()) {
      if (!list.empty()) list.back()["steps"].push_back(step_object(row, now));
      continue;
    }
    const std::string nodes = format_hostlist({job.nodes().begin(), job.nodes().end()});
    list.push_back({{"job_id", job.id()},
                    {"name", job.name()},
                    {"user", job.user()},
                    {"account", ""},
                    {"cluster", "hai"},
                    {"partition", job.group()},
                    {"qos", job.priority()},
                    {"priority", number(std::stoll(job_value(job, 'Q', now)))},
                    {"state", {{"current", {state_of(job).name}}, {"reason", reason_word(job)}}},
                    {"time",
                     {{"elapsed", time_run(job, now) / 1s},
                      {"submission", job.submitted_at_us() / 1'000'000},
                      {"start", job.started_at_us() / 1'000'000},
                      {"end", job.ended_at_us() / 1'000'000},
                      {"limit", minutes_of_limit(job)}}},
                    {"exit_code", exit_code(job)},
                    {"nodes", nodes},
                    {"allocation_nodes", job.node_count()},
                    {"restart_cnt", std::max(0, job.attempt() - 1)},
                    {"working_directory", job.workspace()},
                    {"comment", {{"system", job.end_reason()}}},
                    {"steps", Json::array()}});
  }
  return document("jobs", std::move(list));
}

}  // namespace hai::cli::slurm
