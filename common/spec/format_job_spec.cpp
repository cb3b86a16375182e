#include <algorithm>
#include <array>

#include "common/bytes.h"
#include "common/spec/job_keys.h"
#include "common/spec/job_spec_yaml.h"
#include "common/spec/sealed_value.h"

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

// Writes each key of job_keys.h, and the mappings around it when the first key in them comes.
// Texts, lists and times that are empty are left out.
class KeyWriter {
 public:
  explicit KeyWriter(std::string& text) : text_(text) {}

  void operator()(std::string_view path, const std::string& value) {
    if (!value.empty()) put(path, scalar(value));
  }
  void operator()(std::string_view path, const std::string& group, const std::string& zone) {
    put(path, scalar(zone.empty() ? group : group + "#" + zone));
  }
  void operator()(std::string_view path, Priority value) { put(path, to_string(value)); }
  void operator()(std::string_view path, const std::map<std::string, std::string>& values) {
    if (!values.empty()) put(path, "");
    const auto depth = std::count(path.begin(), path.end(), '.') + 1;
    for (const auto& [name, value] : values) {
      const bool is_secret = path == "spec.environments" && value.starts_with(kToSealMark);
      line(depth, scalar(name),
           is_secret ? fmt::format("{{secret: {}}}", scalar(value.substr(kToSealMark.size())))
                     : scalar(value));
    }
  }
  void operator()(std::string_view path, int value, int low, int) {
    put(path, low == kNoGpus && value == kNoGpus ? "none" : std::to_string(value));
  }
  void operator()(std::string_view path, int64_t bytes, int64_t, int64_t) {
    put(path, bytes == kUnlimited ? "unlimited" : format_bytes(bytes));
  }
  void operator()(std::string_view path, Duration value, Duration, Duration) {
    put(path, format_duration(value));
  }
  void operator()(std::string_view path, bool value) { put(path, value ? "true" : "false"); }
  template <typename Enum, size_t N>
  void operator()(std::string_view path, Enum value, const std::array<Enum, N>&) {
    put(path, to_string(value));
  }
  void operator()(std::string_view path, const std::vector<std::string>& values) {
    if (!values.empty()) put(path, list(values));
  }
  void operator()(std::string_view path, const std::optional<UnixTime>& value) {
    if (value) put(path, exact_time(*value));
  }

 private:
  void put(std::string_view path, std::string_view value) {
    std::ptrdiff_t depth = 0;
    size_t begin = 0;
    for (size_t dot; (dot = path.find('.', begin)) != std::string_view::npos; begin = dot + 1) {
      const std::string_view around = path.substr(0, dot + 1);
      if (!last_.starts_with(around)) line(depth, path.substr(begin, dot - begin), "");
      ++depth;
    }
    line(depth, path.substr(begin), value);
    last_ = path;
  }
  void line(std::ptrdiff_t depth, std::string_view key, std::string_view value) {
    text_.append(static_cast<size_t>(depth) * 2, ' ');
    text_ += key;
    text_ += value.empty() ? ":" : ": ";
    text_ += value;
    text_ += '\n';
  }

  std::string& text_;
  std::string_view last_;  // path written; all of them are literals
};

}  // namespace

std::string format_job_spec_yaml(const JobSpec& spec) {
  std::string text = "version: 2\n";
  for_each_key(spec, KeyWriter(text));
  return text;
}

}  // namespace hai
