#include "common/config/yaml_reader.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include "common/bytes.h"
#include "common/text_check.h"

namespace hai {
namespace {

constexpr size_t kShownMax = 64;

std::string shown(std::string_view text) {
  return text.size() <= kShownMax ? fmt::format("'{}'", text)
                                  : fmt::format("'{}...'", text.substr(0, kShownMax));
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

YamlReader::YamlReader(std::string_view text) {
  if (const auto error = parse_yaml(text, &root_)) {
    is_readable_ = false;
    errors_.push_back(*error);
    root_ = {};
  } else if (root_.kind != YamlNode::Kind::map && root_.kind != YamlNode::Kind::null) {
    is_readable_ = false;
    add_error(root_.line, "",
              fmt::format("must be a mapping of keys to values, is {}", to_string(root_.kind)));
    root_ = {};
  }
}

Result<YamlReader> YamlReader::from_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return not_found("cannot read {}", path);
  std::string text(kYamlBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return unavailable("cannot read {}", path);
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kYamlBytesMax) {
    return invalid_argument("{}: larger than {} bytes", path, kYamlBytesMax);
  }
  return YamlReader(text);
}

namespace {

std::string text_of(const YamlNode& node) {
  std::string text = node.text;
  for (const YamlNode& item : node.items) text += "- " + text_of(item) + "\n";
  for (const YamlEntry& entry : node.entries)
    text += entry.key + ": " + text_of(entry.value) + "\n";
  return text;
}

void collect(const YamlNode& node, const std::string& path, ConfigKeys& keys) {
  if (node.kind == YamlNode::Kind::map) {
    for (const YamlEntry& entry : node.entries) {
      collect(entry.value, path.empty() ? entry.key : path + "." + entry.key, keys);
    }
  } else if (node.kind != YamlNode::Kind::null) {
    keys[path] = text_of(node);
  }
}

}  // namespace

ConfigKeys YamlReader::keys() const {
  ConfigKeys keys;
  collect(root_, "", keys);
  return keys;
}

bool YamlReader::string(const std::string& path, std::string* out) {
  const YamlNode* node = find_kind(path, YamlNode::Kind::scalar, "a text");
  if (node == nullptr) return false;
  *out = node->text;
  return true;
}

bool YamlReader::file(const std::string& path, std::string* out) {
  std::string name;
  if (string(path, &name) && !name.empty()) {
    *out = std::move(name);
    return true;
  }
  if (has(path) && !has_error(path)) fail(path, "is empty: name a file, or leave the key out");
  return false;
}

bool YamlReader::boolean(const std::string& path, bool* out) {
  const YamlNode* node = find_kind(path, YamlNode::Kind::scalar, "true or false");
  if (node == nullptr) return false;
  const std::string& text = node->text;
  const bool is_true = text == "true" || text == "True" || text == "TRUE";
  if (!is_true && text != "false" && text != "False" && text != "FALSE") {
    fail(path, fmt::format("must be true or false, is {}", shown(text)));
    return false;
  }
  *out = is_true;
  return true;
}

bool YamlReader::integer(const std::string& path, int64_t* out, IntegerRange range) {
  const YamlNode* node = find_kind(path, YamlNode::Kind::scalar, "a whole number");
  if (node == nullptr) return false;
  const std::string& text = node->text;
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec == std::errc::invalid_argument || parsed.ptr != text.data() + text.size()) {
    fail(path, fmt::format("must be a whole number, is {}", shown(text)));
    return false;
  }
  if (parsed.ec != std::errc() || value < range.low || value > range.high) {
    fail(path, fmt::format("must be {}..{}, is {}", range.low, range.high,
                           std::string_view(text).substr(0, kShownMax)));
    return false;
  }
  *out = value;
  return true;
}

bool YamlReader::integer(const std::string& path, int* out, IntegerRange range) {
  range.low = std::max<int64_t>(range.low, std::numeric_limits<int>::min());
  range.high = std::min<int64_t>(range.high, std::numeric_limits<int>::max());
  int64_t value = 0;
  if (!integer(path, &value, range)) return false;
  *out = static_cast<int>(value);
  return true;
}

bool YamlReader::duration(const std::string& path, Duration* out, DurationRange range) {
  const YamlNode* node = find_kind(path, YamlNode::Kind::scalar, "a duration like 90s or 5m");
  if (node == nullptr) return false;
  const Result<Duration> value = parse_duration(node->text);
  if (!value.is_ok()) {
    fail(path, value.status().message());
    return false;
  }
  if (value.value() < range.low || value.value() > range.high) {
    fail(path, fmt::format("must be {}..{}, is {}", format_duration(range.low),
                           format_duration(range.high), format_duration(value.value())));
    return false;
  }
  *out = value.value();
  return true;
}

bool YamlReader::bytes(const std::string& path, int64_t* out, IntegerRange range) {
  const YamlNode* node = find_kind(path, YamlNode::Kind::scalar, "a size like 64Gi");
  if (node == nullptr) return false;
  const Result<int64_t> value = parse_bytes(node->text);
  if (!value.is_ok()) {
    fail(path, value.status().message());
    return false;
  }
  if (value.value() < range.low || value.value() > range.high) {
    fail(path, fmt::format("must be {}..{}, is {}", format_bytes(std::max<int64_t>(range.low, 0)),
                           format_bytes(range.high), format_bytes(value.value())));
    return false;
  }
  *out = value.value();
  return true;
}

bool YamlReader::time(const std::string& path, std::optional<UnixTime>* out) {
  const YamlNode* node = find_kind(path, YamlNode::Kind::scalar, "a time");
  if (node == nullptr) return false;
  const Result<UnixTime> value = parse_rfc3339(node->text);
  if (!value.is_ok()) {
    fail(path, value.status().message());
    return false;
  }
  *out = value.value();
  return true;
}

bool YamlReader::choice(const std::string& path, size_t* out,
                        const std::vector<std::string>& words) {
  const YamlNode* node = find_kind(path, YamlNode::Kind::scalar, join(words));
  if (node == nullptr) return false;
  const auto found = std::find(words.begin(), words.end(), node->text);
  if (found == words.end()) {
    fail(path, fmt::format("must be {}, is {}", join(words), shown(node->text)));
    return false;
  }
  *out = static_cast<size_t>(found - words.begin());
  return true;
}

bool YamlReader::strings(const std::string& path, std::vector<std::string>* out) {
  const YamlNode* node = find_kind(path, YamlNode::Kind::list, "a list of texts");
  if (node == nullptr) return false;
  std::vector<std::string> result;
  bool is_fine = true;
  for (size_t i = 0; i < node->items.size(); ++i) {
    const YamlNode& item = node->items[i];
    if (item.kind != YamlNode::Kind::scalar) {
      is_fine = false;
      add_error(item.line, fmt::format("{}[{}]", path, i),
                fmt::format("must be a text, is {}", to_string(item.kind)));
    }
    result.push_back(item.text);
  }
  if (is_fine) *out = std::move(result);
  return is_fine;
}

bool YamlReader::string_map(const std::string& path, std::map<std::string, std::string>* out) {
  const YamlNode* node = find_kind(path, YamlNode::Kind::map, "a mapping of names to texts");
  if (node == nullptr) return false;
  std::map<std::string, std::string> result;
  for (const YamlEntry& entry : node->entries) {
    const YamlNode::Kind kind = entry.value.kind;
    // `KEY:` with nothing behind it is the empty text here, as in an environment.
    if (kind != YamlNode::Kind::scalar && kind != YamlNode::Kind::null) {
      add_error(entry.line, path + "." + entry.key,
                fmt::format("must be a text, is {}", to_string(kind)));
    }
    result[entry.key] = entry.value.text;
  }
  *out = std::move(result);
  return true;
}

std::vector<YamlReader*> YamlReader::list(const std::string& path) {
  std::vector<YamlReader*> readers;
  const YamlNode* node = find_kind(path, YamlNode::Kind::list, "a list of mappings");
  if (node == nullptr) return readers;
  for (size_t i = 0; i < node->items.size(); ++i) {
    const YamlNode& item = node->items[i];
    if (item.kind != YamlNode::Kind::map) {
      add_error(item.line, fmt::format("{}[{}]", path, i),
                fmt::format("must be a mapping, is {}", to_string(item.kind)));
      continue;
    }
    std::unique_ptr<YamlReader> reader(new YamlReader());
    reader->root_ = item;
    reader->prefix_ = fmt::format("{}{}[{}].", prefix_, path, i);
    readers.push_back(reader.get());
    items_.push_back(std::move(reader));
  }
  return readers;
}

const YamlNode* YamlReader::find(const std::string& path) {
  known_.insert(path);
  const YamlNode* node = look_up(path);
  return node == nullptr || node->kind == YamlNode::Kind::null ? nullptr : node;
}

void YamlReader::require(const std::string& path) {
  if (is_readable_ && find(path) == nullptr) fail(path, "is missing");
}

void YamlReader::refuse(const std::string& path, const std::string& message) {
  known_.insert(path);
  refused_.insert(path);
  if (look_up(path) != nullptr) fail(path, message);
}

void YamlReader::fail(const std::string& path, const std::string& message) {
  add_error(line_of(path), path, message);
}

bool YamlReader::has_error(const std::string& path) const {
  const std::string full = prefix_ + path;
  return std::any_of(errors_.begin(), errors_.end(),
                     [&](const FieldError& error) { return error.path == full; });
}

int YamlReader::line_of(const std::string& path) const {
  const YamlNode* node = &root_;
  int line = root_.line;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    const YamlEntry* entry = node->find(part.substr(0, part.find('[')));
    // A key may contain dots itself, as the last part of the path.
    if (entry == nullptr) entry = node->find(rest);
    if (entry == nullptr) return line;
    line = entry->line;
    node = &entry->value;
    size_t index = 0;
    if (const size_t bracket = part.find('['); bracket != std::string_view::npos) {
      std::from_chars(part.data() + bracket + 1, part.data() + part.size(), index);
      if (index >= node->items.size()) return line;
      node = &node->items[index];
      line = node->line;
    }
    if (part.size() == rest.size()) return line;
    rest.remove_prefix(part.size() + 1);
  }
  return line;
}

const YamlNode* YamlReader::look_up(const std::string& path) const {
  const YamlNode* node = &root_;
  std::string_view rest = path;
  while (true) {
    const std::string_view key = rest.substr(0, rest.find('.'));
    const YamlEntry* entry = node->find(key);
    if (entry == nullptr) return nullptr;
    node = &entry->value;
    if (key.size() == rest.size()) return node;
    rest.remove_prefix(key.size() + 1);
  }
}

const YamlNode* YamlReader::find_kind(const std::string& path, YamlNode::Kind kind,
                                      std::string_view expected) {
  const YamlNode* node = find(path);
  if (node == nullptr || node->kind == kind) return node;
  fail(path, node->kind == YamlNode::Kind::scalar
                 ? fmt::format("must be {}, is {}", expected, shown(node->text))
                 : fmt::format("must be {}, is {}", expected, to_string(node->kind)));
  return nullptr;
}

void YamlReader::add_error(int line, const std::string& path, const std::string& message) {
  // Both may quote what is in the file: keys can be long, and cut texts end inside a character.
  const std::string full_path = path.empty() ? "" : prefix_ + printable(path.substr(0, 128));
  errors_.push_back({line, full_path, printable(message)});
}

}  // namespace hai
