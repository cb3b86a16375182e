#include <algorithm>
#include <array>

#include "common/bytes.h"
#include "common/spec/job_spec_yaml.h"

namespace hai {
namespace {

bool is_plain(std::string_view text) {
  // Words and numbers that some YAML reader takes for something else than a text.
  constexpr auto kSpecial = std::to_array<std::string_view>(
      {"null", "Null", "NULL", "true", "True", "TRUE", "false", "False", "FALSE",
       "yes",  "Yes",  "YES",  "no",   "No",   "NO",   "on",    "On",    "ON",
       "off",  "Off",  "OFF",  "y",    "Y",    "n",    "N"});
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || (!is_letter(text[0]) && text[0] != '/')) return false;
  if (std::find(kSpecial.begin(), kSpecial.end(), text) != kSpecial.end()) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '/' || c == '-';
  });
}

std::string scalar(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < ' ' || byte == 0x7f) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string list(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const std::string& item : items) text += (text.size() > 1 ? ", " : "") + scalar(item);
  return text + "]";
}

// To the microsecond, as a spec by gRPC may have it: format_rfc3339 drops what is below a
// millisecond, and such a spec came back changed.
std::string exact_time(UnixTime time) {
  std::string text = format_rfc3339(time);
  const auto below = (time.time_since_epoch() -
                      std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch())) /
                     1us;
  if (below == 0) return text;
  text.pop_back();  // the Z
  return text + fmt::format("{:03}Z", below);
}

}  // namespace

std::string format_job_spec_yaml(const JobSpec& spec) {
  std::string text;
  const auto line = [&text](int indent, std::string_view key, std::string_view value) {
    text.append(static_cast<size_t>(indent) * 2, ' ');
    text += key;
    text += value.empty() ? ":" : ": ";
    text += value;
    text += '\n';
  };
  line(0, "version", "2");
  line(0, "name", scalar(spec.name));
  line(0, "priority", to_string(spec.priority));
  line(0, "spec", "");
  line(1, "workspace", scalar(spec.workspace));
  line(1, "entrypoint", scalar(spec.entrypoint));
  if (!spec.parameters.empty()) line(1, "parameters", scalar(spec.parameters));
  if (!spec.environments.empty()) line(1, "environments", "");
  for (const auto& [name, value] : spec.environments) line(2, scalar(name), scalar(value));
  line(0, "resource", "");
  line(1, "group", scalar(spec.zone.empty() ? spec.group : spec.group + "#" + spec.zone));
  line(1, "node_count", std::to_string(spec.node_count));
  line(1, "gpus_per_node", std::to_string(spec.gpus_per_node));
  line(1, "cpus_per_node", std::to_string(spec.cpus_per_node));
  line(1, "memory_per_node", format_bytes(spec.memory_per_node_bytes));
  if (!spec.image.empty()) line(1, "image", scalar(spec.image));
  line(0, "options", "");
  line(1, "launch", to_string(spec.launch));
  line(1, "env_style", to_string(spec.env_style));
  line(1, "suspend", "");
  line(2, "grace", format_duration(spec.suspend.grace));
  if (!spec.suspend.signal.empty()) line(2, "signal", scalar(spec.suspend.signal));
  line(2, "exit_code", std::to_string(spec.suspend.exit_code));
  line(1, "checkpoint", "");
  line(2, "period", format_duration(spec.checkpoint_period));
  line(1, "restart", "");
  line(2, "on_failure", spec.restart.on_failure ? "true" : "false");
  line(2, "max", std::to_string(spec.restart.max));
  line(1, "timeout", format_duration(spec.timeout));
  line(1, "watchdog", format_duration(spec.watchdog));
  line(1, "max_leaves", std::to_string(spec.max_leaves));
  line(1, "cross_zone", to_string(spec.cross_zone));
  if (!spec.tags.empty()) line(1, "tags", list(spec.tags));
  if (!spec.depends_on.empty()) line(1, "depends_on", list(spec.depends_on));
  if (spec.begin_at) line(1, "begin_at", exact_time(*spec.begin_at));
  return text;
}

}  // namespace hai
