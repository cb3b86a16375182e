#include "proto/json/json_plan.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "common/check.h"
#include "common/json/json_text.h"
#include "hai/v1/options.pb.h"

namespace hai {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// JobAction's values begin with JOB_ACTION_, which is how protobuf keeps them apart.
std::map<int, std::string> words_of(const EnumDescriptor& type) {
  const std::string& type_name = type.name();
  std::string prefix;
  for (size_t i = 0; i < type_name.size(); ++i) {
    const auto letter = static_cast<unsigned char>(type_name[i]);
    if (i > 0 && std::isupper(letter)) prefix += '_';
    prefix += static_cast<char>(std::toupper(letter));
  }
  prefix += '_';
  std::map<int, std::string> words;
  for (int i = 0; i < type.value_count(); ++i) {
    const std::string& name = type.value(i)->name();
    CHECK(name.starts_with(prefix));
    words[type.value(i)->number()] = lower(name.substr(prefix.size()));
  }
  return words;
}

JsonField::Kind kind_of(const FieldDescriptor& field, const v1::JsonOptions& options) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return JsonField::Kind::boolean;
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
      return field.name().ends_with("_us") ? JsonField::Kind::time : JsonField::Kind::integer;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return JsonField::Kind::real;
    case FieldDescriptor::CPPTYPE_STRING:
      return options.raw() ? JsonField::Kind::raw : JsonField::Kind::text;
    case FieldDescriptor::CPPTYPE_ENUM:
      return JsonField::Kind::word;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return JsonField::Kind::message;
    default:
      CHECK(false);  // a type that no message of the Api has
  }
}

std::string name_of(const FieldDescriptor& field, const v1::JsonOptions& options) {
  if (!options.name().empty()) return options.name();
  const std::string& name = field.name();
  return name.ends_with("_us") ? name.substr(0, name.size() - 3) : name;
}

class Plans {
 public:
  const JsonPlan& get(const Descriptor* type) {
    const std::lock_guard lock(mutex_);
    return make(type);
  }

 private:
  const JsonPlan& make(const Descriptor* type) {
    std::unique_ptr<JsonPlan>& plan = plans_[type];
    if (plan) return *plan;
    plan = std::make_unique<JsonPlan>();
    JsonPlan& made = *plan;  // `plan` itself moves when the table grows
    made.type = type;
    for (int i = 0; i < type->field_count(); ++i) made.fields.push_back(field(*type->field(i)));
    for (size_t i = 0; i < made.fields.size(); ++i) {
      JsonField& each = made.fields[i];
      if (each.in.empty()) continue;
      each.is_first_in = i == 0 || made.fields[i - 1].in != each.in;
      each.is_last_in = i + 1 == made.fields.size() || made.fields[i + 1].in != each.in;
    }
    return made;
  }

  JsonField field(const FieldDescriptor& field) {
    const v1::JsonOptions& options = field.options().GetExtension(v1::json);
    const FieldDescriptor& value = field.is_map() ? *field.message_type()->map_value() : field;
    JsonField made{.field = &field,
                   .kind = kind_of(value, options),
                   .name = name_of(field, options),
                   .in = options.in(),
                   .may_be_absent = field.has_optional_keyword(),
                   .is_hidden = options.hidden() || !options.told_by().empty(),
                   .is_omitted = options.omitted(),
                   .is_inlined = options.inlined(),
                   .is_required = options.required(),
                   .takes_numbers = options.takes_numbers(),
                   .zero_is_null = options.zero_is_null(),
                   .negative_is_null = options.negative_is_null(),
                   .told_by = options.told_by()};
    append_json_string(made.key, made.name);
    made.key += ':';
    if (made.kind == JsonField::Kind::word) made.words = words_of(*value.enum_type());
    if (made.kind == JsonField::Kind::message) made.message = &make(value.message_type());
    return made;
  }

  std::mutex mutex_;
  std::unordered_map<const Descriptor*, std::unique_ptr<JsonPlan>> plans_;
};

}  // namespace

const JsonField* JsonPlan::find(std::string_view name) const {
  for (const JsonField& field : fields) {
    if (!field.is_hidden && field.name == name) return &field;
  }
  return nullptr;
}

const JsonPlan& json_plan_of(const Descriptor* type) {
  static Plans plans;
  return plans.get(type);
}

}  // namespace hai
