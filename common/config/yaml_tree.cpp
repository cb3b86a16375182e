#include "common/config/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "common/ascii.h"
#include "common/text_check.h"

namespace hai {
namespace {

constexpr size_t kYamlCopiedBytesMax = 4 * kYamlBytesMax;
constexpr size_t kMessageBytesMax = 200;

int line_of(const YAML::Mark& mark) { return mark.line + 1; }

// Thrown inside the builder, because yaml-cpp's events have no other way to stop; caught in
// parse_yaml.
struct BadYaml {
  FieldError error;
};
[[noreturn]] void fail(const YAML::Mark& mark, const std::string& message) {
  throw BadYaml{{line_of(mark), "", printable(message)}};
}

// yaml-cpp's words, or better ones for the slips that are common.
std::string explain(const std::string& message) {
  if (message == "illegal EOF in scalar") return "a quote is not closed";
  if (message == "illegal map value") return "a value with ': ' in it needs quotes";
  if (message == "end of map flow not found") return "a { is not closed";
  if (message == "end of sequence flow not found") return "a [ is not closed";
  // It quotes single bytes of longer characters, and whole lines.
  return printable(std::string_view(message).substr(0, kMessageBytesMax));
}

// Builds the tree from yaml-cpp's events. Its own node type would keep the first of two equal keys
// in silence.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(YamlNode* root) : root_(root) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fail(mark, "a second document starts here, only one is allowed");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    keep(mark, anchor, {YamlNode::Kind::null, line_of(mark), {}, {}, {}, false});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (is_key_next()) {
      take_key(mark, value);
    } else {
      // The tag of what is not quoted and has none of its own is "?".
      keep(mark, anchor, {YamlNode::Kind::scalar, line_of(mark), value, {}, {}, tag != "?"});
    }
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (is_key_next()) fail(mark, "a key must be plain text");
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(mark, "an alias inside what it stands for");
    const Anchor& anchored = found->second;
    if (frames_.size() + anchored.depth > kYamlDepthMax) fail_depth(mark);
    if (!frames_.empty()) frames_.back().depth = std::max(frames_.back().depth, anchored.depth + 1);
    count(mark, anchored.size);
    place(anchored.node);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, YamlNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  // What a tree costs to keep or to copy.
  struct Size {
    size_t nodes = 0;
    size_t bytes = 0;
  };
  // A list or mapping that is being read.
  struct Frame {
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    YamlNode node;
    Size before;           // the builder's size when it began
    size_t depth = 1;      // levels in it
    bool has_key = false;  // a mapping whose last entry waits for its value
    std::set<std::string> keys;
  };
  struct Anchor {
    YamlNode node;
    Size size;
    size_t depth = 0;
  };

  bool is_key_next() const {
    return !frames_.empty() && frames_.back().node.kind == YamlNode::Kind::map &&
           !frames_.back().has_key;
  }

  [[noreturn]] static void fail_depth(const YAML::Mark& mark) {
    fail(mark, fmt::format("nested deeper than {} levels", kYamlDepthMax));
  }

  void count(const YAML::Mark& mark, Size more) {
    size_.nodes += more.nodes;
    size_.bytes += more.bytes;
    if (size_.nodes > kYamlNodesMax) {
      fail(mark, fmt::format("more than {} values, aliases included", kYamlNodesMax));
    }
    if (size_.bytes > kYamlCopiedBytesMax) {
      fail(mark, fmt::format("more than {} bytes, aliases included", kYamlCopiedBytesMax));
    }
  }

  void take_key(const YAML::Mark& mark, const std::string& key) {
    Frame& frame = frames_.back();
    if (!frame.keys.insert(key).second) {
      fail(mark, fmt::format("the key '{}' is here twice, first in line {}", key.substr(0, 64),
                             frame.node.find(key)->line));
    }
    count(mark, {0, key.size()});
    frame.node.entries.push_back({key, line_of(mark), {}});
    frame.has_key = true;
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (is_key_next()) fail(mark, "a key must be plain text");
    if (frames_.size() >= kYamlDepthMax) fail_depth(mark);
    Frame frame;
    frame.mark = mark;
    frame.anchor = anchor;
    frame.node.kind = kind;
    frame.node.line = line_of(mark);
    frame.before = size_;
    frames_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    if (!frames_.empty()) frames_.back().depth = std::max(frames_.back().depth, frame.depth + 1);
    count(frame.mark, {1, 0});
    if (frame.anchor != 0) {
      const Size size = {size_.nodes - frame.before.nodes, size_.bytes - frame.before.bytes};
      count(frame.mark, size);  // The anchor keeps a copy.
      anchors_[frame.anchor] = {frame.node, size, frame.depth};
    }
    place(std::move(frame.node));
  }

  // A scalar or null.
  void keep(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode node) {
    if (is_key_next()) fail(mark, "a key must be plain text");
    const Size size = {1, node.text.size()};
    count(mark, size);
    if (anchor != 0) {
      count(mark, size);
      anchors_[anchor] = {node, size, 0};
    }
    place(std::move(node));
  }

  void place(YamlNode node) {
    if (frames_.empty()) {
      *root_ = std::move(node);
    } else if (frames_.back().node.kind == YamlNode::Kind::list) {
      frames_.back().node.items.push_back(std::move(node));
    } else {
      frames_.back().node.entries.back().value = std::move(node);
      frames_.back().has_key = false;
    }
  }

  YamlNode* root_;
  int documents_ = 0;
  Size size_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Anchor> anchors_;
};

}  // namespace

const YamlEntry* YamlNode::find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

std::string_view plain_type(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::scalar || node.is_quoted || node.text.empty()) return "";
  for (const std::string_view word : {"true", "True", "TRUE", "false", "False", "FALSE"}) {
    if (node.text == word) return "true or false";
  }
  std::string_view number = node.text;
  if (number.front() == '-' || number.front() == '+') number.remove_prefix(1);
  const bool begins = !number.empty() && (is_digit(number.front()) || number.front() == '.');
  double value = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool is_number = begins && parsed.ec != std::errc::invalid_argument &&
                         parsed.ptr == number.data() + number.size();
  return is_number ? "a number" : "";
}

std::string_view to_string(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::null:
      return "empty";
    case YamlNode::Kind::scalar:
      return "a single value";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a mapping";
  }
  return "unknown";
}

namespace {

// Four hexadecimal digits; nothing if they are none.
std::optional<uint32_t> read_hex4(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != 4 || error != std::errc() || end != text.data() + 4) return std::nullopt;
  return value;
}

// JSON writes a character beyond the first 65,536 as two escapes (RFC 8259, 7: "\ud83d\ude00"),
// YAML as one: what is in double quotes gets that one. `text` without such is given back as it is.
std::string join_surrogates(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  char quote = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == '"' && c == '\\') {
      const auto high =
          text.substr(at).starts_with("\\u") ? read_hex4(text.substr(at + 2, 4)) : std::nullopt;
      const bool is_high = high && *high >= 0xd800 && *high < 0xdc00;
      const size_t next = at + 6;
      const auto low = is_high && text.substr(std::min(next, text.size())).starts_with("\\u")
                           ? read_hex4(text.substr(next + 2, 4))
                           : std::nullopt;
      if (low && *low >= 0xdc00 && *low < 0xe000) {
        out += fmt::format("\\U{:08x}", 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00));
        at = next + 5;
      } else {
        out += text.substr(at, 2);
        ++at;
      }
      continue;
    }
    out += c;
  }
  return out;
}

// In other YAML an apostrophe is no quote everywhere.
bool is_json(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace

std::optional<FieldError> parse_yaml(std::string_view text, YamlNode* root) {
  *root = {};
  if (text.size() > kYamlBytesMax) {
    return FieldError{0, "",
                      fmt::format("{} bytes, at most {} are read", text.size(), kYamlBytesMax)};
  }
  if (const auto bad = find_bad_text(text, ControlCharacters::delete_only)) {
    return FieldError{bad->line, "", fmt::format("{}: this is not a YAML text", bad->what)};
  }
  try {
    // yaml-cpp takes a quote that is never closed for a value if the text ends with a line end, and
    // so would swallow all keys behind it in silence. A comment without a line end makes it an
    // error.
    std::istringstream stream{(is_json(text) ? join_surrogates(text) : std::string(text)) +
                              (text.ends_with('\n') ? "#" : "\n#")};
    YAML::Parser parser(stream);
    TreeBuilder builder(root);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const BadYaml& bad) {
    return bad.error;
  } catch (const YAML::ParserException& error) {
    return FieldError{line_of(error.mark), "",
                      fmt::format("not valid YAML: {}", explain(error.msg))};
  } catch (const YAML::Exception& error) {
    return FieldError{0, "", fmt::format("not valid YAML: {}", explain(error.what()))};
  }
  return std::nullopt;
}

}  // namespace hai
