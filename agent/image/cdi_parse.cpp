#include <algorithm>
#include <array>

#include "agent/image/cdi.h"
#include "common/config/yaml_tree.h"
#include "common/text_check.h"

namespace hai {

namespace {

constexpr std::array<std::string_view, 2> kOfNvidia = {"nvidia-ctk", "nvidia-cdi-hook"};
// What they are for is so already: /dev is the node's, and a rank can make no devices.
constexpr std::array<std::string_view, 2> kNeedNothing = {"chmod",
                                                          "disable-device-node-modification"};
constexpr size_t kWordBytesMax = 4'096;

// Thrown by what reads one value, caught in parse_cdi: a tree has too many places to look at for
// each of them to hand on a Status.
struct BadCdi {
  int line = 0;
  std::string message;
};

[[noreturn]] void fail(const YamlNode& at, std::string message) {
  throw BadCdi{at.line, std::move(message)};
}

const YamlNode* find(const YamlNode& map, const char* key, YamlNode::Kind kind) {
  if (map.kind != YamlNode::Kind::map)
    fail(map, fmt::format("a mapping is expected here, not {}", to_string(map.kind)));
  const YamlEntry* entry = map.find(key);
  if (entry == nullptr || entry->value.kind == YamlNode::Kind::null) return nullptr;
  if (entry->value.kind != kind)
    fail(entry->value,
         fmt::format("{} must be {}, not {}", key, to_string(kind), to_string(entry->value.kind)));
  return &entry->value;
}

const std::vector<YamlNode>& items(const YamlNode& map, const char* key) {
  static const std::vector<YamlNode> kNone;
  const YamlNode* list = find(map, key, YamlNode::Kind::list);
  return list == nullptr ? kNone : list->items;
}

std::string word(const YamlNode& node, std::string_view what) {
  if (node.kind != YamlNode::Kind::scalar)
    fail(node, fmt::format("{} must be a single value, not {}", what, to_string(node.kind)));
  if (node.text.empty() || node.text.size() > kWordBytesMax ||
      node.text.find('\0') != std::string::npos)
    fail(node, fmt::format("{} must have 1 to {} bytes and no NUL", what, kWordBytesMax));
  return node.text;
}

std::string word_of(const YamlNode& map, const char* key) {
  const YamlNode* found = find(map, key, YamlNode::Kind::scalar);
  if (found == nullptr) fail(map, fmt::format("{} is missing", key));
  return word(*found, key);
}

std::vector<std::string> words_of(const YamlNode& map, const char* key) {
  std::vector<std::string> words;
  for (const YamlNode& item : items(map, key)) words.push_back(word(item, key));
  return words;
}

// In the image or on the node: absolute, and as it is written.
std::string checked_path(const YamlNode& at, std::string_view key, std::string path) {
  if (!path.starts_with('/') || path == "/" || (path + "/").find("/../") != std::string::npos ||
      path != printable(path))
    fail(at, fmt::format("{} must be an absolute path without .., is {}", key, printable(path)));
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

void read_environment(const YamlNode& edits, CdiEdits& out) {
  for (const YamlNode& item : items(edits, "env")) {
    const std::string text = word(item, "env");
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      fail(item, fmt::format("env must be NAME=VALUE, is {}", printable(text)));
    out.environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
}

void read_mounts(const YamlNode& edits, CdiEdits& out) {
  for (const YamlNode& item : items(edits, "mounts")) {
    ImageMount mount{.from = checked_path(item, "hostPath", word_of(item, "hostPath")),
                     .to = checked_path(item, "containerPath", word_of(item, "containerPath"))};
    const YamlNode* type = find(item, "type", YamlNode::Kind::scalar);
    if (type != nullptr && !type->text.empty() && type->text != "bind" && type->text != "none") {
      out.skipped.push_back("mount of type " + printable(type->text));
      continue;
    }
    const std::vector<std::string> options = words_of(item, "options");
    mount.is_read_only = std::ranges::find(options, "ro") != options.end();
    out.mounts.push_back(std::move(mount));
  }
}

// The values of `--NAME VALUE` and `--NAME=VALUE`.
std::vector<std::string> values_of(const std::vector<std::string>& words, const std::string& name) {
  std::vector<std::string> values;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == name && i + 1 < words.size())
      values.push_back(words[++i]);
    else if (words[i].starts_with(name + "="))
      values.push_back(words[i].substr(name.size() + 1));
  }
  return values;
}

// "TARGET::LINK"
ImageLink read_link(const YamlNode& hook, const std::string& text) {
  const size_t colons = text.find("::");
  if (colons == 0 || colons == std::string::npos)
    fail(hook, fmt::format("--link must be TARGET::LINK, is {}", printable(text)));
  return {.path = checked_path(hook, "a link", text.substr(colons + 2)),
          .target = text.substr(0, colons)};
}

void read_hook(const YamlNode& hook, CdiEdits& out) {
  const std::string path = word_of(hook, "path");
  const std::string program = path.substr(path.rfind('/') + 1);
  std::vector<std::string> words = words_of(hook, "args");
  if (!words.empty()) words.erase(words.begin());  // the program's own name
  if (!words.empty() && words.front() == "hook") words.erase(words.begin());
  const bool is_known = std::ranges::find(kOfNvidia, program) != kOfNvidia.end() && !words.empty();
  const std::string verb = is_known ? words.front() : program;
  if (is_known && verb == "create-symlinks") {
    for (const std::string& text : values_of(words, "--link"))
      out.links.push_back(read_link(hook, text));
  } else if (is_known && verb == "update-ldcache") {
    for (std::string& folder : values_of(words, "--folder"))
      out.library_folders.push_back(checked_path(hook, "--folder", std::move(folder)));
  } else if (!is_known || std::ranges::find(kNeedNothing, verb) == kNeedNothing.end()) {
    out.skipped.push_back("hook " + printable(verb));
  }
}

CdiEdits read_edits(const YamlNode& map) {
  CdiEdits out;
  const YamlNode* edits = find(map, "containerEdits", YamlNode::Kind::map);
  if (edits == nullptr) return out;
  read_environment(*edits, out);
  read_mounts(*edits, out);
  for (const YamlNode& hook : items(*edits, "hooks")) read_hook(hook, out);
  for (const YamlNode& node : items(*edits, "deviceNodes")) {
    const char* key = find(node, "hostPath", YamlNode::Kind::scalar) ? "hostPath" : "path";
    out.device_nodes.push_back(checked_path(node, key, word_of(node, key)));
  }
  for (const char* key : {"additionalGids", "intelRdt", "netDevices"}) {
    if (edits->find(key) != nullptr) out.skipped.emplace_back(key);
  }
  return out;
}

CdiSpec read_spec(const YamlNode& root, std::string_view kind) {
  CdiSpec spec;
  word_of(root, "cdiVersion");
  spec.kind = word_of(root, "kind");
  if (spec.kind != kind) return spec;
  spec.edits = read_edits(root);
  for (const YamlNode& device : items(root, "devices")) {
    const std::string name = word_of(device, "name");
    if (name != printable(name) || !spec.devices.emplace(name, read_edits(device)).second)
      fail(device, fmt::format("a second device of this name, or no name: {}", printable(name)));
  }
  if (spec.devices.empty()) fail(root, "has no devices");
  return spec;
}

Status broken(const std::string& file, int line, const std::string& message) {
  const std::string where = line > 0 ? fmt::format(", line {}", line) : "";
  return failed_precondition("this node's CDI file {}{}: {}", file, where, message);
}

}  // namespace

Result<CdiSpec> parse_cdi(const std::string& file, std::string_view text, std::string_view kind) {
  YamlNode root;
  if (const auto error = parse_yaml(text, &root)) return broken(file, error->line, error->message);
  try {
    CdiSpec spec = read_spec(root, kind);
    spec.file = file;
    return spec;
  } catch (const BadCdi& bad) {
    return broken(file, bad.line, bad.message);
  }
}

}  // namespace hai
