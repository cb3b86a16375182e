// The end of YamlReader: keys nobody asked for, and the final list of errors.

#include <algorithm>
#include <iterator>

#include "common/config/yaml_reader.h"
#include "common/nearest.h"

namespace hai {
namespace {

bool starts_with_part(const std::string& path, const std::string& prefix) {
  return prefix.empty() || path.starts_with(prefix + ".");
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

}  // namespace

// The keys that are allowed right below `prefix`.
std::vector<std::string> YamlReader::known_children(const std::string& prefix) const {
  std::vector<std::string> children;
  for (const std::string& path : known_) {
    if (!starts_with_part(path, prefix) || refused_.contains(path)) continue;
    const size_t begin = prefix.empty() ? 0 : prefix.size() + 1;
    std::string child = path.substr(begin, path.find('.', begin) - begin);
    if (children.empty() || children.back() != child) children.push_back(std::move(child));
  }
  return children;
}

void YamlReader::fail_unknown(const YamlEntry& entry, const std::string& prefix) {
  const std::string path = prefix.empty() ? entry.key : prefix + "." + entry.key;
  const std::vector<std::string> allowed = known_children(prefix);
  std::string hint = nearest(entry.key, allowed);
  // A right key at a wrong level is as common as a slip.
  for (const std::string& known : known_) {
    if (hint.empty() && last_part(known) == entry.key && !refused_.contains(known)) hint = known;
  }
  if (!hint.empty()) {
    hint = fmt::format("did you mean {}?", hint);
  } else {
    for (const std::string& key : allowed) hint += (hint.empty() ? "allowed here: " : ", ") + key;
  }
  add_error(entry.line, path, "unknown key, " + hint);
}

void YamlReader::find_unknown(const YamlNode& node, const std::string& prefix) {
  for (const YamlEntry& entry : node.entries) {
    const std::string path = prefix.empty() ? entry.key : prefix + "." + entry.key;
    // A dot would make a key look like a path.
    const bool has_dot = entry.key.find('.') != std::string::npos;
    if (!has_dot && known_.contains(path)) continue;
    const bool is_section =
        !has_dot && std::any_of(known_.begin(), known_.end(),
                                [&](const auto& known) { return known.starts_with(path + "."); });
    if (errors_.size() > kFieldErrorsMax) return;
    if (!is_section) {
      fail_unknown(entry, prefix);
    } else if (entry.value.kind == YamlNode::Kind::map) {
      find_unknown(entry.value, path);
    } else if (entry.value.kind != YamlNode::Kind::null) {
      add_error(entry.line, path,
                fmt::format("must be a mapping, is {}", to_string(entry.value.kind)));
    }
  }
}

std::vector<FieldError> YamlReader::finish() {
  find_unknown(root_, "");
  std::vector<FieldError> all = errors_;
  for (const auto& item : items_) {
    std::vector<FieldError> more = item->finish();
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const FieldError& a, const FieldError& b) { return a.line < b.line; });
  if (all.size() > kFieldErrorsMax) {
    const size_t left_out = all.size() - kFieldErrorsMax;
    all.resize(kFieldErrorsMax);
    all.push_back({0, "", fmt::format("and {} more errors", left_out)});
  }
  return all;
}

}  // namespace hai
