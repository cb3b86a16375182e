#pragma once
// A YAML document as a plain tree with line numbers. It is a bounded, strict reading, safe for text
// from anyone: size, depth and node count have limits (aliases count as what they stand for),
// duplicate keys, a second document and binary junk are errors. The only place that knows yaml-cpp
// is the .cpp file.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/field_error.h"

namespace hai {

inline constexpr size_t kYamlBytesMax = 1u << 20;
inline constexpr size_t kYamlNodesMax = 100'000;
inline constexpr size_t kYamlDepthMax = 32;

struct YamlEntry;

struct YamlNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  int line = 0;                    // 1-based
  std::string text;                // of a scalar
  std::vector<YamlNode> items;     // of a list
  std::vector<YamlEntry> entries;  // of a map, in file order, keys unique
  bool is_quoted = false;          // of a scalar: it stands in quotes, and so is a text

  const YamlEntry* find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  int line = 0;  // of the key
  YamlNode value;
};

// What a scalar is if it is not a text: "a number" or "true or false"; "" for all that is quoted
// and for all others.
std::string_view plain_type(const YamlNode& node);

std::string_view to_string(
    YamlNode::Kind kind);  // "empty", "a single value", "a list", "a mapping"

// The document of `text` (an empty one is a null node), or the one error that made reading it
// pointless.
std::optional<FieldError> parse_yaml(std::string_view text, YamlNode* root);

}  // namespace hai
