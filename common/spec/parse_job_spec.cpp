// Reading is by field, with types and ranges; validate_job_spec then judges the whole. A field with
// a wrong type keeps its default, and is reported once.

#include <algorithm>
#include <array>

#include "common/config/yaml_reader.h"
#include "common/shell_words.h"
#include "common/signal_name.h"
#include "common/spec/hai_keys.h"
#include "common/spec/job_spec_yaml.h"
#include "common/spec/spec_limits.h"

namespace hai {
namespace {

// One of an enum's words.
template <typename Enum, size_t N>
void read_choice(YamlReader& reader, const std::string& path, Enum* out,
                 const std::array<Enum, N>& values) {
  std::vector<std::string> words;
  for (const Enum value : values) words.emplace_back(to_string(value));
  size_t index = 0;
  if (reader.choice(path, &index, words)) *out = values[index];
}

void read_head(YamlReader& reader, JobSpec* out) {
  int version = 0;
  reader.require("version");
  if (reader.integer("version", &version, {}) && version != 2) {
    reader.fail("version", fmt::format("must be 2, is {}", version));
  }
  reader.string("name", &out->name);
  std::string priority;
  if (reader.string("priority", &priority)) {
    const Result<Priority> parsed = parse_priority(priority);
    if (parsed.is_ok()) {
      out->priority = parsed.value();
    } else {
      reader.fail("priority", parsed.status().message());
    }
  }
  // HAI's files may name the default type; its other types are services and internals.
  std::string type = "training";
  if (reader.string("task_type", &type) && type != "training") {
    reader.fail("task_type",
                fmt::format("'{}' is not supported, only training is", type.substr(0, 64)));
  }
}

// A text, split like a shell does, or a list of words.
void read_parameters(YamlReader& reader, std::string* out) {
  const std::string path = "spec.parameters";
  const YamlNode* node = reader.find(path);
  if (node == nullptr || node->kind != YamlNode::Kind::list) {
    reader.string(path, out);
    return;
  }
  std::vector<std::string> words;
  if (reader.strings(path, &words)) *out = join_words(words);
}

void read_program(YamlReader& reader, JobSpec* out) {
  reader.string("spec.workspace", &out->workspace);
  reader.string("spec.entrypoint", &out->entrypoint);
  read_parameters(reader, &out->parameters);
  reader.string_map("spec.environments", &out->environments);
}

void read_resource(YamlReader& reader, JobSpec* out) {
  std::string group;
  if (reader.string("resource.group", &group)) {
    const size_t mark = group.find('#');
    out->group = group.substr(0, mark);
    out->zone = mark == std::string::npos ? "" : group.substr(mark + 1);
    if (mark != std::string::npos && out->zone.empty()) {
      reader.fail("resource.group", "must be GROUP#ZONE, the zone is empty");
    }
  }
  reader.bytes("resource.memory_per_node", &out->memory_per_node_bytes,
               {.low = 0, .high = kMemoryPerNodeBytesMax});
  reader.string("resource.image", &out->image);
  if (out->image == "default") out->image.clear();  // HAI's word for no image of one's own
}

// A list of texts, or one text with commas, as HAI takes tags.
void read_list(YamlReader& reader, const std::string& path, std::vector<std::string>* out) {
  const YamlNode* node = reader.find(path);
  if (node == nullptr || node->kind != YamlNode::Kind::scalar) {
    reader.strings(path, out);
    return;
  }
  std::string_view rest = node->text;
  while (true) {
    const size_t comma = rest.find(',');
    std::string_view item = rest.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    out->emplace_back(item);
    if (comma == std::string_view::npos) return;
    rest.remove_prefix(comma + 1);
  }
}

void read_options(YamlReader& reader, JobSpec* out) {
  read_choice(reader, "options.launch", &out->launch,
              std::array{LaunchMode::per_node, LaunchMode::per_gpu});
  read_choice(reader, "options.env_style", &out->env_style,
              std::array{EnvStyle::hai, EnvStyle::torch, EnvStyle::slurm});
  read_choice(reader, "options.cross_zone", &out->cross_zone,
              std::array{CrossZone::allow, CrossZone::never});
  if (reader.string("options.suspend.signal", &out->suspend.signal)) {
    const Result<int> signal = parse_signal(out->suspend.signal);
    if (signal.is_ok()) out->suspend.signal = signal_name(signal.value());
  }
  reader.boolean("options.restart.on_failure", &out->restart.on_failure);
  read_list(reader, "options.tags", &out->tags);
  read_list(reader, "options.depends_on", &out->depends_on);
  reader.time("options.begin_at", &out->begin_at);
}

}  // namespace

bool parse_job_spec(std::string_view yaml, JobSpec* out, std::vector<SpecError>* errors) {
  *out = {};
  errors->clear();
  YamlReader reader(yaml);
  if (!reader.is_readable()) {
    *errors = reader.finish();
    return false;
  }
  read_head(reader, out);
  read_program(reader, out);
  read_resource(reader, out);
  read_options(reader, out);
  for_each_count(*out, [&](const std::string& path, int& field, int low, int high) {
    reader.integer(path, &field, {.low = low, .high = high});
  });
  for_each_duration(*out,
                    [&](const std::string& path, Duration& field, Duration low, Duration high) {
                      reader.duration(path, &field, {.low = low, .high = high});
                    });
  for (const HaiKey& key : unsupported_hai_keys()) {
    reader.refuse(std::string(key.path), fmt::format("not supported here: {}", key.instead));
  }
  for (const SpecError& error : validate_job_spec(*out)) {
    if (!reader.has_error(error.path)) reader.fail(error.path, error.message);
  }
  *errors = reader.finish();
  return errors->empty();
}

}  // namespace hai
