#pragma once
// Reads a YAML file field by field into variables that hold their defaults, and finds everything
// wrong with it at once:
//
//   YamlReader reader(text);
//   reader.string("listen.grpc", &config.grpc_address);
//   reader.duration("timeout", &config.timeout, {.low = 1s, .high = 1h});
//   Status status = to_status(reader.finish(), "hai-server.yaml");
//
// A path that was asked for is known; finish() reports the keys nobody asked for. A key that is
// missing or has no value keeps the default. Keys in a path are separated by dots. A text that is
// no YAML gives one error, and no field is read.

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/config_change.h"
#include "common/config/field_error.h"
#include "common/config/yaml_tree.h"
#include "common/time.h"

namespace hai {

class YamlReader {
 public:
  struct IntegerRange {
    int64_t low = std::numeric_limits<int64_t>::min();
    int64_t high = std::numeric_limits<int64_t>::max();
  };
  struct DurationRange {
    Duration low{0};
    Duration high = 24h * 3653;
  };

  explicit YamlReader(std::string_view text);
  // A file that cannot be read or is too large is an error here; what is in it is judged by
  // finish().
  static Result<YamlReader> from_file(const std::string& path);

  // Each returns true if it has set *out.
  bool string(const std::string& path, std::string* out);
  // Of a file. An empty one is an error: whoever wrote the key meant a file, and what goes on
  // without it may be less safe.
  bool file(const std::string& path, std::string* out);
  bool boolean(const std::string& path, bool* out);
  bool integer(const std::string& path, int* out, IntegerRange range);
  bool integer(const std::string& path, int64_t* out, IntegerRange range);
  bool duration(const std::string& path, Duration* out, DurationRange range);
  bool bytes(const std::string& path, int64_t* out, IntegerRange range);  // "64Gi"
  bool time(const std::string& path, std::optional<UnixTime>* out);       // RFC 3339
  // One of `words`; *out becomes its index.
  bool choice(const std::string& path, size_t* out, const std::vector<std::string>& words);
  bool strings(const std::string& path, std::vector<std::string>* out);
  bool string_map(const std::string& path, std::map<std::string, std::string>* out);
  // A list of mappings: one reader per item, owned by this one, finished with it.
  std::vector<YamlReader*> list(const std::string& path);

  // A path with its own form: the node, or nullptr if it is missing or has no value.
  const YamlNode* find(const std::string& path);
  // Whether the key is there, with or without a value; asking does not make it known.
  bool has(const std::string& path) const { return look_up(path) != nullptr; }
  // Reports a missing or empty value.
  void require(const std::string& path);
  // A key of another version or program: reports it with `message`, if it is there.
  void refuse(const std::string& path, const std::string& message);
  void fail(const std::string& path, const std::string& message);

  bool is_readable() const { return is_readable_; }
  bool has_error(const std::string& path) const;
  // The line of a path, or of the nearest mapping around it; "a.b[2]" is an item of a list.
  int line_of(const std::string& path) const;

  // Each value as the file has it.
  ConfigKeys keys() const;

  // Also reports unknown keys. All errors, in line order, at most kFieldErrorsMax.
  std::vector<FieldError> finish();

 private:
  YamlReader() = default;
  const YamlNode* look_up(const std::string& path) const;
  const YamlNode* find_kind(const std::string& path, YamlNode::Kind kind,
                            std::string_view expected);
  void find_unknown(const YamlNode& node, const std::string& prefix);
  void fail_unknown(const YamlEntry& entry, const std::string& prefix);
  std::vector<std::string> known_children(const std::string& prefix) const;
  void add_error(int line, const std::string& path, const std::string& message);

  YamlNode root_;
  std::string prefix_;  // of an item of a list: "users[2]."
  bool is_readable_ = true;
  std::set<std::string> known_;    // paths asked for: all below them is taken as read
  std::set<std::string> refused_;  // known, but never proposed
  std::vector<FieldError> errors_;
  std::vector<std::unique_ptr<YamlReader>> items_;
};

}  // namespace hai
