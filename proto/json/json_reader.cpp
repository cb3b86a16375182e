#include "proto/json/json_reader.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/check.h"
#include "common/time.h"
#include "common/whole_number.h"
#include "proto/json/json_plan.h"

namespace hai {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Json = nlohmann::ordered_json;

constexpr int kDepthMax = 64;

bool is_too_deep(const std::string& body) {
  int depth = 0;
  bool is_in_string = false;
  for (size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      if (c == '"') is_in_string = false;
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDepthMax) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

std::string shown(std::string_view text) { return std::string(text.substr(0, 100)); }

// One field of one message, to be set from a value that was read.
class Setter {
 public:
  Setter(const JsonField& field, Message& out)
      : field_(field), descriptor_(field.field), out_(out), reflection_(*out.GetReflection()) {}

  Status integer(int64_t value) {
    if (descriptor_->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      many() ? reflection_.AddInt64(&out_, descriptor_, value)
             : reflection_.SetInt64(&out_, descriptor_, value);
      return ok();
    }
    using Limits = std::numeric_limits<int32_t>;
    if (value < Limits::min() || value > Limits::max()) {
      return invalid_argument("{}: must be a number up to {}, is {}", field_.name, Limits::max(),
                              value);
    }
    reflection_.SetInt32(&out_, descriptor_, static_cast<int32_t>(value));
    return ok();
  }
  Status boolean(bool value) {
    reflection_.SetBool(&out_, descriptor_, value);
    return ok();
  }
  Status text(std::string value) {
    many() ? reflection_.AddString(&out_, descriptor_, std::move(value))
           : reflection_.SetString(&out_, descriptor_, std::move(value));
    return ok();
  }
  Status time(const std::string& text) {
    Result<UnixTime> time = parse_rfc3339(text);
    if (!time.is_ok()) return invalid_argument("{}: {}", field_.name, time.status().message());
    return integer(to_micros(time.value()));
  }
  // 0 is the word of nothing said.
  Status word(const std::string& text) {
    std::string allowed;
    for (const auto& [number, word] : field_.words) {
      if (number == 0) continue;
      if (word == text) {
        reflection_.SetEnumValue(&out_, descriptor_, number);
        return ok();
      }
      allowed += (allowed.empty() ? "" : ", ") + word;
    }
    return invalid_argument("{}: {} is none of {}", field_.name, shown(text), allowed);
  }

 private:
  bool many() const { return descriptor_->is_repeated(); }

  const JsonField& field_;
  const FieldDescriptor* descriptor_;
  Message& out_;
  const google::protobuf::Reflection& reflection_;
};

Status read_number(const JsonField& field, const Json& value, Setter& setter) {
  if (field.negative_is_null) {
    if (value.is_null()) return setter.integer(-1);
    const bool is_fine =
        value.is_number_unsigned() && value.get<uint64_t>() <= std::numeric_limits<int32_t>::max();
    if (is_fine) return setter.integer(value.get<int64_t>());
    return invalid_argument("{}: must be a number up to {}, or null for no limit", field.name,
                            std::numeric_limits<int32_t>::max());
  }
  if (!value.is_number_integer()) return invalid_argument("{}: must be a number", field.name);
  return setter.integer(value.get<int64_t>());
}

Status read_value(const JsonField& field, const Json& value, Setter& setter) {
  switch (field.kind) {
    case JsonField::Kind::boolean:
      if (!value.is_boolean()) return invalid_argument("{}: must be true or false", field.name);
      return setter.boolean(value.get<bool>());
    case JsonField::Kind::integer:
      return read_number(field, value, setter);
    case JsonField::Kind::text:
      if (field.takes_numbers && value.is_number_integer()) return setter.text(value.dump());
      if (!value.is_string()) return invalid_argument("{}: must be a string", field.name);
      return setter.text(value.get<std::string>());
    case JsonField::Kind::word:
      if (!value.is_string()) return invalid_argument("{}: must be a string", field.name);
      return setter.word(value.get<std::string>());
    case JsonField::Kind::time:
      if (!value.is_string()) return invalid_argument("{}: must be a string", field.name);
      return setter.time(value.get<std::string>());
    default:
      return invalid_argument("{}: cannot be given here", field.name);
  }
}

Status read_field(const JsonField& field, const Json& value, Message& out) {
  Setter setter(field, out);
  if (!field.field->is_repeated()) return read_value(field, value, setter);
  if (!value.is_array()) return invalid_argument("{}: must be a list", field.name);
  for (const Json& each : value) {
    const bool is_name = each.is_string() || (field.takes_numbers && each.is_number_integer());
    if (!is_name) return invalid_argument("{}: must be a list of names", field.name);
    RETURN_IF_ERROR(read_value(field, each, setter));
  }
  return ok();
}

Status unknown_key(const JsonPlan& plan, const std::set<std::string>& taken, std::string_view key) {
  std::string known;
  for (const JsonField& field : plan.fields) {
    if (field.is_hidden || taken.contains(field.name)) continue;
    known += (known.empty() ? "" : ", ") + field.name;
  }
  return invalid_argument("{}: unknown key; known is: {}", shown(key), known);
}

// Of a oneof exactly one.
Status check_choices(const JsonPlan& plan, const Json& object) {
  for (int i = 0; i < plan.type->real_oneof_decl_count(); ++i) {
    const google::protobuf::OneofDescriptor& choice = *plan.type->oneof_decl(i);
    std::string names;
    int given = 0;
    for (const JsonField& field : plan.fields) {
      if (field.field->containing_oneof() != &choice) continue;
      names += (names.empty() ? "" : ", ") + field.name;
      if (!object.contains(field.name)) continue;
      ++given;
      if (object[field.name] == false) return invalid_argument("{}: must be true", field.name);
    }
    if (given != 1) return invalid_argument("exactly one of {}", names);
  }
  return ok();
}

}  // namespace

Status check_json_depth(const std::string& body) {
  if (!is_too_deep(body)) return ok();
  return invalid_argument("the body is nested deeper than {}", kDepthMax);
}

Status read_json(const std::string& body, const std::set<std::string>& taken, Message& out) {
  Json object = Json::object();
  if (!body.empty()) {
    RETURN_IF_ERROR(check_json_depth(body));
    object = Json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) return invalid_argument("the body must be a JSON object");
  }
  return read_object(object, taken, out);
}

Status read_object(const Json& object, const std::set<std::string>& taken, Message& out) {
  const JsonPlan& plan = json_plan_of(out.GetDescriptor());
  if (!object.is_object()) return invalid_argument("must be an object");
  for (const auto& [key, value] : object.items()) {
    const JsonField* field = taken.contains(key) ? nullptr : plan.find(key);
    if (field == nullptr) return unknown_key(plan, taken, key);
    RETURN_IF_ERROR(read_field(*field, value, out));
  }
  for (const JsonField& field : plan.fields) {
    if (field.is_required && !taken.contains(field.name) && !object.contains(field.name)) {
      return invalid_argument("{}: is missing", field.name);
    }
    if (!field.told_by.empty() && object.contains(field.told_by)) {
      RETURN_IF_ERROR(Setter(field, out).boolean(true));
    }
  }
  return check_choices(plan, object);
}

static Status read_text(const JsonField& field, const std::string& text, Message& out) {
  Setter setter(field, out);
  switch (field.kind) {
    case JsonField::Kind::boolean:
      if (text.empty()) return ok();
      if (text == "true" || text == "1") return setter.boolean(true);
      if (text == "false" || text == "0") return setter.boolean(false);
      return invalid_argument("{}: must be true or false, is {}", field.name, shown(text));
    case JsonField::Kind::integer: {
      if (text.empty()) return ok();
      const std::optional<int64_t> number = whole_number(text);
      if (!number) return invalid_argument("{}: {} is no whole number", field.name, shown(text));
      return setter.integer(*number);
    }
    case JsonField::Kind::word:
      return setter.word(text);
    case JsonField::Kind::time:
      return setter.time(text);
    default:
      return setter.text(text);
  }
}

Status read_parameter(std::string_view name, const std::string& text, Message& out) {
  const JsonField* field = json_plan_of(out.GetDescriptor()).find(name);
  return field == nullptr ? ok() : read_text(*field, text, out);
}

void read_preset(std::string_view preset, Message& out) {
  const size_t middle = preset.find('=');
  CHECK(middle != std::string_view::npos);
  for (const JsonField& field : json_plan_of(out.GetDescriptor()).fields) {
    if (field.field->name() != preset.substr(0, middle)) continue;
    const Status status = read_text(field, std::string(preset.substr(middle + 1)), out);
    CHECK(status.is_ok());
    return;
  }
  CHECK(false);  // no such field
}

}  // namespace hai
