// Reading is by field, with types and ranges; check_job_spec then judges the whole. A field with
// a wrong type keeps its default, and is reported once.

#include <fmt/ranges.h>

#include <algorithm>

#include "common/config/yaml_reader.h"
#include "common/job_service.h"
#include "common/life_state.h"
#include "common/python_environment.h"
#include "common/shell_words.h"
#include "common/signal_name.h"
#include "common/spec/hai_keys.h"
#include "common/spec/job_keys.h"
#include "common/spec/job_spec_yaml.h"
#include "common/spec/sealed_value.h"
#include "common/whole_number.h"

namespace hai {
namespace {

bool is_list_of_maps(const YamlNode* node) {
  return node != nullptr && node->kind == YamlNode::Kind::list && !node->items.empty() &&
         node->items.front().kind == YamlNode::Kind::map;
}

// Whether what stands there may be read as a text. A number or a truth value without quotes is none
// and was hardly meant: `image: 5`, `tags: [true]`.
bool is_text(YamlReader& yaml, const std::string& path, const YamlNode& node) {
  const std::string_view type = plain_type(node);
  if (type.empty()) return true;
  yaml.fail(path, fmt::format("must be a text, is {} {}: in quotes it is one",
                              type == "a number" ? "the number" : "the word",
                              std::string_view(node.text).substr(0, 64)));
  return false;
}

// Keys whose numbers are words: of a command line, ids of jobs, numbers of tasks, "4090".
// check_job_spec judges a name of digits, or a signal's number.
bool takes_numbers(std::string_view path, const YamlNode& node) {
  if (path == "spec.parameters") return true;
  if (plain_type(node) != "a number") return false;
  const bool is_whole = whole_number(node.text).has_value();
  return path == "resource.gpu_type" || path == "array" ||
         (is_whole &&
          (path == "name" || path == "options.depends_on" || path == "options.suspend.signal"));
}

// HAI writes a service as a mapping.
void read_services(YamlReader& yaml, std::vector<std::string>& out) {
  for (YamlReader* item : yaml.list("services")) {
    JobService service;
    item->require("name");
    item->require("port");
    bool is_whole = item->string("name", &service.name);
    is_whole = item->integer("port", &service.port, {.low = 1, .high = 65'535}) && is_whole;
    size_t kind = 0;
    if (item->choice("type", &kind, {"http", "tcp"}) && kind == 1)
      service.kind = JobService::Kind::tcp;
    const YamlNode* rank = item->find("rank");
    const bool is_list = rank != nullptr && rank->kind == YamlNode::Kind::list;
    std::vector<std::string> ranks;
    if (is_list && item->strings("rank", &ranks)) {
      const std::optional<int> only =
          ranks.size() == 1 ? whole_number<int>(ranks[0]) : std::nullopt;
      if (!only || *only < 0) item->fail("rank", "must be one rank, as [0]");
      service.rank = only.value_or(0);
    } else if (!is_list) {
      item->integer("rank", &service.rank, {.low = 0, .high = 99'999});
    }
    bool rewrites = true;
    item->boolean("rewrite_uri", &rewrites);
    service.keeps_path = !rewrites && service.kind == JobService::Kind::http;
    item->refuse("startup_script", "not supported here: start it from the entrypoint");
    if (is_whole) out.push_back(to_string(service));
  }
}

// A variable is a text, or `{secret: TEXT}`.
void read_environments(YamlReader& yaml, const std::string& path,
                       std::map<std::string, std::string>& out) {
  const YamlNode* node = yaml.find(path);
  if (node == nullptr || node->kind != YamlNode::Kind::map) {
    yaml.string_map(path, &out);  // says what is wrong with it
    return;
  }
  for (const YamlEntry& entry : node->entries) {
    const YamlNode* value = &entry.value;
    std::string mark;
    if (value->kind == YamlNode::Kind::map && value->entries.size() == 1) {
      value = &entry.value.entries.front().value;
      if (entry.value.entries.front().key == "secret") mark = kToSealMark;
    }
    const bool is_plain = value == &entry.value;
    // `KEY:` with nothing behind it is the empty text, as in an environment.
    const bool is_word =
        value->kind == YamlNode::Kind::scalar || (is_plain && value->kind == YamlNode::Kind::null);
    if (!is_word || (!is_plain && mark.empty())) {
      yaml.fail(path + "." + entry.key, fmt::format("must be a text, or {{secret: TEXT}}, is {}",
                                                    to_string(entry.value.kind)));
    }
    out[entry.key] = mark + value->text;
  }
}

// Reads each key of job_keys.h in its own form.
struct KeyReader {
  YamlReader& yaml;

  void operator()(const std::string& path, std::string& out) const {
    const YamlNode* node = yaml.find(path);
    std::vector<std::string> words;
    if (path != "spec.parameters" || node == nullptr || node->kind != YamlNode::Kind::list) {
      const bool is_read =
          node == nullptr || takes_numbers(path, *node) || is_text(yaml, path, *node);
      if (is_read) yaml.string(path, &out);
    } else if (yaml.strings(path, &words)) {
      out = join_words(words);  // else a text, split like a shell does
    }
  }
  void operator()(const std::string& path, std::string& group, std::string& zone) const {
    std::string text;
    const YamlNode* node = yaml.find(path);
    if (node == nullptr || !is_text(yaml, path, *node) || !yaml.string(path, &text)) return;
    const size_t mark = text.find('#');
    group = text.substr(0, mark);
    zone = mark == std::string::npos ? "" : text.substr(mark + 1);
    if (mark != std::string::npos && zone.empty()) {
      yaml.fail(path, "must be GROUP#ZONE, the zone is empty");
    }
  }
  void operator()(const std::string& path, Priority& out) const {
    std::string text;
    if (!yaml.string(path, &text)) return;
    const Result<Priority> parsed = parse_priority(text);
    if (parsed.is_ok()) {
      out = parsed.value();
    } else {
      yaml.fail(path, parsed.status().message());
    }
  }
  void operator()(const std::string& path, std::map<std::string, std::string>& out) const {
    if (path == "spec.environments") return read_environments(yaml, path, out);
    yaml.string_map(path, &out);
  }
  void operator()(const std::string& path, int& out, int low, int high) const {
    const YamlNode* node = low == kNoGpus ? yaml.find(path) : nullptr;
    if (node != nullptr && node->kind == YamlNode::Kind::scalar && node->text == "none") {
      out = kNoGpus;
      return;
    }
    yaml.integer(path, &out, {.low = std::max(low, 0), .high = high});
  }
  void operator()(const std::string& path, int64_t& out, int64_t low, int64_t high) const {
    const YamlNode* node = low == kUnlimited ? yaml.find(path) : nullptr;
    if (node != nullptr && node->kind == YamlNode::Kind::scalar && node->text == "unlimited") {
      out = kUnlimited;
      return;
    }
    yaml.bytes(path, &out, {.low = low, .high = high});
  }
  void operator()(const std::string& path, Duration& out, Duration low, Duration high) const {
    yaml.duration(path, &out, {.low = low, .high = high});
  }
  void operator()(const std::string& path, bool& out) const { yaml.boolean(path, &out); }
  void operator()(const std::string& path, std::optional<UnixTime>& out) const {
    yaml.time(path, &out);
  }
  template <typename Enum, size_t N>
  void operator()(const std::string& path, Enum& out, const std::array<Enum, N>& values) const {
    std::vector<std::string> words;
    for (const Enum value : values) words.emplace_back(to_string(value));
    size_t index = 0;
    if (yaml.choice(path, &index, words)) out = values[index];
  }
  // A list of texts, or one text with commas, as HAI takes tags.
  void operator()(const std::string& path, std::vector<std::string>& out) const {
    const YamlNode* node = yaml.find(path);
    if (path == "services" && is_list_of_maps(node)) return read_services(yaml, out);
    if (node == nullptr) return;
    if (node->kind != YamlNode::Kind::scalar) {
      read_list(path, *node, out);
    } else if (takes_numbers(path, *node) || plain_type(*node).empty()) {
      split(node->text, out);
    } else {
      yaml.fail(path, fmt::format("must be a list, as [{}], or one text with commas, is {} {}",
                                  path == "services" ? "web:8888" : "a, b", plain_type(*node),
                                  std::string_view(node->text).substr(0, 64)));
    }
  }

 private:
  void read_list(const std::string& path, const YamlNode& node,
                 std::vector<std::string>& out) const {
    bool is_fine = true;
    for (size_t i = 0; i < node.items.size(); ++i) {
      // A service may be a mere port.
      const bool is_port = path == "services" && whole_number(node.items[i].text).has_value();
      const bool is_word = is_port || takes_numbers(path, node.items[i]) ||
                           is_text(yaml, fmt::format("{}[{}]", path, i), node.items[i]);
      is_fine = is_fine && is_word;
    }
    std::vector<std::string> words;
    if (yaml.strings(path, &words) && is_fine) out = std::move(words);
  }
  static void split(std::string_view rest, std::vector<std::string>& out) {
    while (true) {
      const size_t comma = rest.find(',');
      std::string_view item = rest.substr(0, comma);
      while (item.starts_with(' ')) item.remove_prefix(1);
      while (item.ends_with(' ')) item.remove_suffix(1);
      out.emplace_back(item);
      if (comma == std::string_view::npos) return;
      rest.remove_prefix(comma + 1);
    }
  }
};

// What says something of the file and is no part of a spec.
void read_head(YamlReader& reader) {
  int version = 0;
  reader.require("version");
  if (reader.integer("version", &version, {}) && version != 2) {
    reader.fail("version", fmt::format("must be 2, is {}", version));
  }
  // HAI's files may name the default type; its other types are services and internals.
  std::string type = "training";
  if (reader.string("task_type", &type) && type != "training") {
    reader.fail("task_type",
                fmt::format("'{}' is not supported, only training is", type.substr(0, 64)));
  }
}

// HAI writes out what is off: `services: []`, `py_venv: ""`, `profile: {}`.
bool asks_for_nothing(const YamlNode* value) {
  if (value == nullptr) return true;
  switch (value->kind) {
    case YamlNode::Kind::null:
      return true;
    case YamlNode::Kind::scalar:
      return value->text.empty() || value->text == "false" || value->text == "False" ||
             value->text == "0" || value->text == "none" || value->text == "None";
    case YamlNode::Kind::list:
      return value->items.empty();
    case YamlNode::Kind::map:
      return value->entries.empty();
  }
  return false;
}

// Of a key that means nothing here.
bool is_left_out(std::string_view path, const YamlNode* value) {
  // HAI's default mounts, which files therefore name without asking for anything.
  const bool is_default = path == "options.mount_code" && value != nullptr && value->text == "2";
  return is_default || asks_for_nothing(value);
}

// HAI counts in GB; here a number alone would be bytes. 0: it asks for nothing.
int64_t read_hai_memory(YamlReader& reader, const std::string& path) {
  int64_t bytes = 0;
  const YamlNode* node = reader.find(path);
  const bool is_number =
      node != nullptr && (plain_type(*node) == "a number" || whole_number(node->text).has_value());
  if (!is_number || node->text == "0") {
    reader.bytes(path, &bytes, {.low = 0, .high = kMemoryPerNodeBytesMax});
  } else {
    reader.fail(path, fmt::format("say the unit, as {0}Gi", node->text));
  }
  return bytes;
}

// HAI's names of a node's parts, and of a job that leaves for every other. Its own go before them.
void read_hai_resource(YamlReader& reader, JobSpec& spec) {
  int gpus = 0;
  if (reader.integer("resource.gpu", &gpus, {.low = 0, .high = 64}) && gpus > 0 &&
      !reader.has("resource.gpus_per_node")) {
    spec.gpus_per_node = gpus;
  }
  int cpus = 0;
  if (reader.integer("resource.cpu", &cpus, {.low = 0, .high = 65'536}) &&
      !reader.has("resource.cpus_per_node")) {
    spec.cpus_per_node = cpus;
  }
  const int64_t memory = read_hai_memory(reader, "resource.memory");
  if (memory > 0 && !reader.has("resource.memory_per_node")) spec.memory_per_node_bytes = memory;
  bool is_spot = false;
  if (!reader.boolean("resource.is_spot", &is_spot) || !is_spot) return;
  if (spec.priority != Priority::automatic && spec.priority != Priority::low) {
    reader.fail("resource.is_spot", fmt::format("such a job has the priority low, the file says {}",
                                                to_string(spec.priority)));
  }
  spec.priority = Priority::low;
}

void read_python_environment(YamlReader& reader, JobSpec& spec) {
  std::string text;
  const YamlNode* node = reader.find("options.py_venv");
  if (asks_for_nothing(node)) return;
  const bool is_number = whole_number(node->text).has_value();  // as 202111
  if (!is_number && !is_text(reader, "options.py_venv", *node)) return;
  if (!reader.string("options.py_venv", &text)) return;
  if (const Status status = parse_python_environment(text).status(); !status.is_ok()) {
    reader.fail("options.py_venv", status.message());
    return;
  }
  spec.environments.emplace(kPythonEnvironment, text);
}

// HAI's names of what has another one here. Its own go before them.
void read_hai_names(YamlReader& reader, JobSpec& spec) {
  bool is_executable = false;  // whatever it is, it is started as what it is
  reader.boolean("spec.entrypoint_executable", &is_executable);
  constexpr int kWatchdogSecondsMax = 30 * 24 * 3600;
  int seconds = 0;
  if (reader.integer("options.watchdog_time", &seconds, {.low = 0, .high = kWatchdogSecondsMax}) &&
      !reader.has("options.watchdog")) {
    spec.watchdog = seconds * Duration(1s);
  }
  int cpus = 0;
  if (reader.integer("options.override_node_resource.cpu", &cpus, {.low = 0, .high = 100'000}) &&
      !reader.has("resource.cpus_per_node")) {
    spec.cpus_per_node = cpus;
  }
  const int64_t memory = read_hai_memory(reader, "options.override_node_resource.memory");
  if (memory > 0 && !reader.has("resource.memory_per_node")) spec.memory_per_node_bytes = memory;
  int life_state = 0;
  if (reader.integer("options.whole_life_state", &life_state, {}) && life_state != 0) {
    spec.environments.emplace(kFirstLifeState, std::to_string(life_state));
  }
  read_python_environment(reader, spec);
  std::vector<std::string> nodes;
  const YamlNode* named = reader.find("options.assigned_nodes");
  if (named == nullptr || asks_for_nothing(named)) return;
  bool is_fine = reader.strings("options.assigned_nodes", &nodes);
  for (size_t i = 0; i < named->items.size(); ++i) {
    const std::string path = fmt::format("options.assigned_nodes[{}]", i);
    is_fine = is_text(reader, path, named->items[i]) && is_fine;
  }
  if (is_fine && !reader.has("resource.nodes")) {
    spec.node_filter.nodes = fmt::format("{}", fmt::join(nodes, ","));
  }
}

}  // namespace

bool parse_job_spec(std::string_view yaml, JobSpec* out, std::vector<SpecError>* errors,
                    std::vector<SpecError>* warnings) {
  *out = {};
  errors->clear();
  if (warnings != nullptr) warnings->clear();
  YamlReader reader(yaml);
  if (!reader.is_readable()) {
    *errors = reader.finish();
    return false;
  }
  read_head(reader);
  for_each_key(*out, KeyReader{reader});
  if (out->image == "default") out->image.clear();  // HAI's word for no image of one's own
  if (const Result<int> signal = parse_signal(out->suspend.signal); signal.is_ok()) {
    out->suspend.signal = signal_name(signal.value());
  }
  read_hai_resource(reader, *out);
  read_hai_names(reader, *out);
  for (const HaiKey& key : unsupported_hai_keys()) {
    const std::string path(key.path);
    if (reader.has(path) && is_left_out(path, reader.find(path))) {
      const char* told = "not supported here; it asks for nothing and is left out";
      if (warnings != nullptr) warnings->push_back({reader.line_of(path), path, told});
      continue;
    }
    reader.refuse(path, fmt::format("not supported here: {}", key.instead));
  }
  for (const SpecError& error : check_job_spec(*out)) {
    const bool is_of_hai = error.path == "resource.nodes" && !reader.has("resource.nodes");
    const std::string path = is_of_hai ? "options.assigned_nodes" : error.path;
    if (!reader.has_error(path)) reader.fail(path, error.message);
  }
  *errors = reader.finish();
  if (warnings != nullptr) std::ranges::sort(*warnings, {}, &SpecError::line);
  return errors->empty();
}

}  // namespace hai
