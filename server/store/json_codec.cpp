#include "server/store/json_codec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <type_traits>

#include "common/json/json_text.h"
#include "common/text_check.h"
#include "server/model/fields.h"
#include "server/model/job_fields.h"

namespace hai {
namespace {

struct Encoder {
  std::string& out;

  void add(const std::string& text) { append_json_string(out, text); }
  void add(bool value) { out += value ? "true" : "false"; }
  void add(double value) {
    // JSON has no infinities; none of the model's numbers means one.
    fmt::format_to(std::back_inserter(out), "{}", std::isfinite(value) ? value : 0.0);
  }
  void add(UnixTime time) {
    out += '"';
    append_time(out, time);
    out += '"';
  }
  void add(Duration duration) { add(static_cast<int64_t>(duration.count())); }
  void add(GpuSet gpus) {
    out += '[';
    for (int i = 0; i < GpuSet::kMax; ++i) {
      if (!gpus.contains(i)) continue;
      if (out.back() != '[') out += ',';
      add(static_cast<int64_t>(i));
    }
    out += ']';
  }
  template <typename Tag>
  void add(Id<Tag> id) {
    add(id.value);
  }
  template <typename T>
  requires std::is_enum_v<T>
  void add(T value) {
    out += '"';
    out += to_string(value);
    out += '"';
  }
  template <typename T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) void add(T value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    out.append(digits, static_cast<size_t>(end - digits));
  }
  template <typename T>
  void add(const std::shared_ptr<const T>& value) {
    add(*value);
  }
  template <typename T>
  void add(const std::vector<T>& values) {
    out += '[';
    bool first = true;
    for (const T& value : values) {
      if (!std::exchange(first, false)) out += ',';
      add(value);
    }
    out += ']';
  }
  template <typename T>
  void add(const std::map<std::string, T>& values) {
    out += '{';
    bool first = true;
    for (const auto& [key, value] : values) {
      if (!std::exchange(first, false)) out += ',';
      append_json_string(out, key);
      out += ':';
      add(value);
    }
    out += '}';
  }
  template <typename T>
  requires HasFields<const T>
  void add(const T& value) {
    out += '{';
    bool first = true;
    visit_fields(value, [&](const char* name, const auto& member) { field(name, member, first); });
    out += '}';
  }
  // The usual one as its number alone.
  void add(const Dependency& dependency) {
    if (dependency.condition == DependencyCondition::afterok) return add(dependency.job);
    add<Dependency>(dependency);
  }
  // Leaves out members that are defaults: a spec is mostly those, and is written twice per submit.
  void add(const JobSpec& spec) {
    static const JobSpec defaults;
    static const std::vector<const void*> members = addresses_of_fields(defaults);
    out += '{';
    bool first = true;
    auto at = members.begin();
    visit_fields(spec, [&](const char* name, const auto& member) {
      using Member = std::remove_reference_t<decltype(member)>;
      if (!(member == *static_cast<Member*>(*at++))) field(name, member, first);
    });
    out += '}';
  }
  template <typename T>
  static std::vector<const void*> addresses_of_fields(const T& value) {
    std::vector<const void*> addresses;
    visit_fields(value, [&](const char*, const auto& member) { addresses.push_back(&member); });
    return addresses;
  }

  template <typename T>
  void field(const char* name, const T& member, bool& first) {
    if (!std::exchange(first, false)) out += ',';
    out += '"';
    out += name;
    if constexpr (std::is_same_v<T, Duration>) out += "_us";
    out += "\":";
    add(member);
  }
  template <typename T>
  void field(const char* name, const std::optional<T>& member, bool& first) {
    if (member) field(name, *member, first);
  }
};

// The first error wins; what follows it is skipped.
struct Decoder {
  std::string error;

  void fail(const char* wanted) {
    if (error.empty()) error = fmt::format("expected {}", wanted);
  }
  template <typename T, typename U>
  void take(std::optional<T> value, U& out, const char* wanted) {
    if (!value) return fail(wanted);
    out = static_cast<U>(*std::move(value));
  }

  void read(JsonView json, std::string& out) { take(json.as_string(), out, "a string"); }
  void read(JsonView json, bool& out) { take(json.as_bool(), out, "true or false"); }
  void read(JsonView json, double& out) { take(json.as_double(), out, "a number"); }
  void read(JsonView json, UnixTime& out) {
    std::optional<std::string> text = json.as_string();
    take(text ? parse_time(*text) : std::nullopt, out, "a time");
  }
  void read(JsonView json, Duration& out) {
    int64_t micros = 0;
    read(json, micros);
    out = Duration(micros);
  }
  void read(JsonView json, GpuSet& out) {
    std::vector<int> indices;
    read(json, indices);
    for (int index : indices) {
      if (index < 0 || index >= GpuSet::kMax) return fail("GPU indices 0 to 63");
      out.bits |= uint64_t{1} << index;
    }
  }
  template <typename Tag>
  void read(JsonView json, Id<Tag>& out) {
    read(json, out.value);
  }
  template <typename T>
  requires std::is_enum_v<T>
  void read(JsonView json, T& out) {
    std::optional<std::string> word = json.as_string();
    take(word ? parse_enum<T>(*word) : std::nullopt, out, "a known word");
  }
  template <typename T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) void read(JsonView json, T& out) {
    const std::optional<int64_t> value = json.as_int();
    if (!value || *value < std::numeric_limits<T>::min() ||
        *value > std::numeric_limits<T>::max()) {
      return fail("an integer");
    }
    out = static_cast<T>(*value);
  }
  template <typename T>
  void read(JsonView json, std::optional<T>& out) {
    out.reset();
    if (!json.is_null()) read(json, out.emplace());
  }
  template <typename T>
  void read(JsonView json, std::shared_ptr<const T>& out) {
    auto value = std::make_shared<T>();
    read(json, *value);
    out = std::move(value);
  }
  template <typename T>
  void read(JsonView json, std::vector<T>& out) {
    std::vector<JsonView> elements;
    if (!json.elements(elements)) return fail("a list");
    out.clear();
    out.reserve(elements.size());
    for (JsonView element : elements) read(element, out.emplace_back());
  }
  template <typename T>
  void read(JsonView json, std::map<std::string, T>& out) {
    JsonView::Members members;
    if (!json.members(members)) return fail("an object");
    out.clear();
    for (const auto& [key, value] : members) {
      const std::string name = unescape_json(key);
      // It would be written as another one, in another place, or be one with its neighbour.
      if (!is_clean_utf8(name)) return fail("names of UTF-8");
      read(value, out[name]);
    }
  }
  template <typename T>
  requires HasFields<T>
  void read(JsonView json, T& out) {
    JsonView::Members members;
    if (!json.members(members)) return fail("an object");
    size_t next = 0;
    visit_fields(out, [&](const char* name, auto& member) {
      if (!error.empty()) return;
      read_field(members, next, name, member);
      if (!error.empty()) error = fmt::format("{}: {}", name, error);
    });
    if constexpr (std::is_same_v<T, NodeMark> || std::is_same_v<T, NodeMarked>) {
      read_old_mark(members, out);
    }
  }
  void read(JsonView json, Dependency& out) {
    if (json.as_int()) return read(json, out.job);
    read<Dependency>(json, out);
  }
  // Until 2026-11 a mark's kind and what it is about were one text: "evict gpu_xid".
  template <typename Mark>
  void read_old_mark(const JsonView::Members& members, Mark& mark) {
    const auto kind =
        std::ranges::find(members, "kind", [](const auto& each) { return each.first; });
    if (kind == members.end()) return fail("a mark with a kind");
    const std::string text = kind->second.as_string().value_or("");
    const size_t blank = text.find(' ');
    if (mark.about.empty() && blank != std::string::npos) mark.about = text.substr(blank + 1);
  }
  template <typename T>
  void read_field(const JsonView::Members& members, size_t& next, std::string_view name, T& out) {
    constexpr bool is_duration =
        std::is_same_v<T, Duration> || std::is_same_v<T, std::optional<Duration>>;
    const std::string_view suffix = is_duration ? "_us" : "";
    // Our own texts have the fields in order, so the search mostly ends where it starts.
    for (size_t tried = 0; tried < members.size(); ++tried) {
      const auto& [key, value] = members[(next + tried) % members.size()];
      if (key.size() != name.size() + suffix.size() || !key.starts_with(name) ||
          !key.ends_with(suffix)) {
        continue;
      }
      next = next + tried + 1;
      return read(value, out);
    }
    if constexpr (std::is_same_v<T, std::shared_ptr<const JobSpec>>) fail("a spec");
  }
};

template <typename T>
std::string encode(const T& value) {
  std::string out;
  Encoder{out}.add(value);
  return out;
}

template <typename T>
Status decode(std::string_view text, std::string_view what, T& out) {
  Result<JsonView> json = JsonView::parse(text);
  if (!json.is_ok()) return invalid_argument("{}: {}", what, json.status().message());
  Decoder decoder;
  decoder.read(json.value(), out);
  if (!decoder.error.empty()) return invalid_argument("{}: {}", what, decoder.error);
  return ok();
}

template <typename T>
Result<T> decode_whole(std::string_view text, std::string_view what) {
  T value;
  RETURN_IF_ERROR(decode(text, what, value));
  return value;
}

using DecodeBody = Status (*)(std::string_view, std::string_view, EventBody&);

template <typename Body>
Status decode_body(std::string_view json, std::string_view kind, EventBody& out) {
  return decode(json, kind, out.emplace<Body>());
}

template <size_t... I>
std::map<std::string_view, DecodeBody> body_table(std::index_sequence<I...>) {
  return {{kind_of(EventBody(std::in_place_index<I>)),
           &decode_body<std::variant_alternative_t<I, EventBody>>}...};
}

// Fields that stand in columns or tables of their own, by the names of the type's field list. All
// others stand in one column, so that a new field needs nothing here.
constexpr std::string_view kColumnsOfJob[] = {"id",
                                              "user",
                                              "request_id",
                                              "spec",
                                              "priority",
                                              "state",
                                              "held",
                                              "hold_reason",
                                              "stop_requested",
                                              "submitted_at",
                                              "started_at",
                                              "ended_at",
                                              "attempt",
                                              "exit_code",
                                              "end_reason",
                                              "suspend_count",
                                              "requeue_count",
                                              "launch_failures",
                                              "failure_restarts",
                                              "lost_gpu_seconds"};
constexpr std::string_view kColumnsOfIncident[] = {"id",      "kind",      "subject",
                                                   "summary", "opened_at", "closed_at"};
constexpr auto columns_of(const Job&) { return std::span(kColumnsOfJob); }
constexpr auto columns_of(const Incident&) { return std::span(kColumnsOfIncident); }

template <typename Row>
struct RestOf {
  Row& row;
  template <typename S, typename Visit>
  static void fields(S& self, Visit&& visit) {
    // Looked up once: a row is written for each job of a batch.
    static const std::vector<bool> is_left_out = [&] {
      std::vector<bool> each;
      visit_fields(self.row, [&](std::string_view name, auto&) {
        each.push_back(std::ranges::count(columns_of(self.row), name) != 0);
      });
      return each;
    }();
    size_t i = 0;
    visit_fields(self.row, [&](const char* name, auto& member) {
      if (!is_left_out[i++]) visit(name, member);
    });
  }
};

constexpr size_t kKindBytesSaid = 64;  // of one that nobody knows

}  // namespace

std::string to_json(const EventBody& body) {
  return std::visit([](const auto& event) { return encode(event); }, body);
}

Result<EventBody> event_body_from_json(std::string_view kind, std::string_view json) {
  static const std::map<std::string_view, DecodeBody> table =
      body_table(std::make_index_sequence<std::variant_size_v<EventBody>>());
  const auto found = table.find(kind);
  if (found == table.end()) {  // of a newer server, or of a file that was damaged
    return invalid_argument("event kind {} is not known",
                            printable(kind.substr(0, kKindBytesSaid)));
  }
  EventBody body;
  RETURN_IF_ERROR(found->second(json, kind, body));
  return body;
}

std::string to_json(const JobSpec& spec) { return encode(spec); }
std::string to_json(const Attempt& attempt) { return encode(attempt); }
std::string to_json(const NodeFacts& facts) { return encode(facts); }
std::string to_json(const AttemptEnd& end) { return encode(end); }

Result<JobSpec> job_spec_from_json(std::string_view json) {
  return decode_whole<JobSpec>(json, "spec");
}
Result<Attempt> attempt_from_json(std::string_view json) {
  return decode_whole<Attempt>(json, "attempt");
}
Result<NodeFacts> node_facts_from_json(std::string_view json) {
  return decode_whole<NodeFacts>(json, "facts");
}
Result<AttemptEnd> attempt_end_from_json(std::string_view json) {
  return decode_whole<AttemptEnd>(json, "end");
}

std::string whole_job_to_json(const Job& job) { return encode(job); }

Result<Job> whole_job_from_json(std::string_view json) { return decode_whole<Job>(json, "job"); }

std::string job_rest_to_json(const Job& job) { return encode(RestOf<const Job>{job}); }

Status job_rest_from_json(std::string_view json, Job& job) {
  RestOf<Job> rest{job};
  return decode(json, "rest", rest);
}

std::string to_json(const NodePosition& position) { return encode(position); }
Result<NodePosition> node_position_from_json(std::string_view json) {
  return decode_whole<NodePosition>(json, "told");
}

std::string to_json(const NodeSettings& settings) { return encode(settings); }
Result<NodeSettings> node_settings_from_json(std::string_view json) {
  return decode_whole<NodeSettings>(json, "set");
}

std::string to_json(const NodePeers& peers) { return encode(peers); }
Result<NodePeers> node_peers_from_json(std::string_view json) {
  return decode_whole<NodePeers>(json, "peers");
}

std::string to_json(const NodeHealth& health) { return encode(health); }
Result<NodeHealth> node_health_from_json(std::string_view json) {
  return decode_whole<NodeHealth>(json, "health");
}

std::string incident_rest_to_json(const Incident& incident) {
  return encode(RestOf<const Incident>{incident});
}
Status incident_rest_from_json(std::string_view json, Incident& incident) {
  RestOf<Incident> rest{incident};
  return decode(json, "incident", rest);
}

}  // namespace hai
