#include "proto/json/json_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/json/json_text.h"
#include "proto/json/json_plan.h"

namespace hai {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Json = nlohmann::ordered_json;

// Appends to a text.
class TextSink {
 public:
  void key(const JsonField& field) { begin(), out_ += field.key, is_next_ = false; }
  void key(std::string_view name) {
    begin();
    append_json_string(out_, name);
    out_ += ':';
    is_next_ = false;
  }
  void open(char bracket) { begin(), out_ += bracket, is_next_ = false; }
  void close(char bracket) { out_ += bracket, is_next_ = true; }
  void null() { literal("null"); }
  void boolean(bool value) { literal(value ? "true" : "false"); }
  void integer(int64_t value) { number(value); }
  void real(double value) { std::isfinite(value) ? number(value) : null(); }
  void text(std::string_view value) { begin(), append_json_string(out_, value); }
  // As the server made it.
  void raw(const std::string& json) { literal(json.empty() ? std::string_view("{}") : json); }
  std::string take() { return std::move(out_); }

 private:
  void begin() {
    if (is_next_) out_ += ',';
    is_next_ = true;
  }
  void literal(std::string_view value) { begin(), out_ += value; }
  template <typename T>
  void number(T value) {
    char digits[32];
    const auto written = std::to_chars(digits, digits + sizeof digits, value);
    literal({digits, static_cast<size_t>(written.ptr - digits)});
  }

  std::string out_;
  bool is_next_ = false;  // a value stands before
};

// Builds a value.
class ValueSink {
 public:
  void key(const JsonField& field) { key_ = field.name; }
  void key(std::string_view name) { key_ = name; }
  void open(char bracket) {
    open_.push_back(&add(bracket == '{' ? Json::object() : Json::array()));
  }
  void close(char) { open_.pop_back(); }
  void null() { add(nullptr); }
  void boolean(bool value) { add(value); }
  void integer(int64_t value) { add(value); }
  void real(double value) { add(value); }
  void text(std::string_view value) { add(value); }
  void raw(const std::string& json) {
    Json value = Json::parse(json, nullptr, /*allow_exceptions=*/false);
    add(value.is_discarded() ? Json::object() : std::move(value));
  }
  Json take() { return std::move(root_); }

 private:
  Json& add(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& around = *open_.back();
    if (around.is_array()) return around.emplace_back(std::move(value));
    return around[key_] = std::move(value);
  }

  Json root_;
  std::vector<Json*> open_;
  std::string key_;
};

template <typename Sink>
class Writer {
 public:
  Writer(Sink& sink, const JsonFilter& filter) : sink_(sink), filter_(filter) {}

  void object(const JsonPlan& plan, const Message& message) {
    sink_.open('{');
    fields(plan, message);
    sink_.close('}');
  }

 private:
  bool is_wanted(const JsonPlan& plan, const JsonField& field) const {
    if (field.is_hidden) return false;
    if (filter_.names.empty() || plan.type != filter_.type) return true;
    return std::ranges::find(filter_.names, field.name) != filter_.names.end();
  }

  void fields(const JsonPlan& plan, const Message& message) {
    for (const JsonField& each : plan.fields) {
      if (!is_wanted(plan, each)) continue;
      if (each.is_first_in) {
        sink_.key(each.in);
        sink_.open('{');
      }
      field(each, message, *message.GetReflection());
      if (each.is_last_in) sink_.close('}');
    }
  }

  void field(const JsonField& field, const Message& message, const Reflection& reflection) {
    const FieldDescriptor* descriptor = field.field;
    if (field.is_inlined) {
      return fields(*field.message, reflection.GetMessage(message, descriptor));
    }
    if (descriptor->is_repeated()) {
      const int count = reflection.FieldSize(message, descriptor);
      if (field.is_omitted && count == 0) return;
      sink_.key(field);
      return descriptor->is_map() ? map(field, message, reflection)
                                  : list(field, message, reflection, count);
    }
    const bool is_absent = field.may_be_absent && !reflection.HasField(message, descriptor);
    if (field.is_omitted && is_absent) return;
    sink_.key(field);
    if (is_absent) return sink_.null();
    value(field, descriptor, message, reflection);
  }

  void map(const JsonField& field, const Message& message, const Reflection& reflection) {
    const google::protobuf::Descriptor& entry = *field.field->message_type();
    std::vector<std::pair<std::string, const Message*>> entries;
    for (int i = 0; i < reflection.FieldSize(message, field.field); ++i) {
      const Message& each = reflection.GetRepeatedMessage(message, field.field, i);
      entries.emplace_back(each.GetReflection()->GetString(each, entry.map_key()), &each);
    }
    std::ranges::sort(entries, {}, &std::pair<std::string, const Message*>::first);
    sink_.open('{');
    for (const auto& [key, each] : entries) {
      sink_.key(key);
      value(field, entry.map_value(), *each, *each->GetReflection());
    }
    sink_.close('}');
  }

  void integer(const JsonField& field, int64_t value) {
    if (field.kind == JsonField::Kind::time) return sink_.text(format_rfc3339(unix_micros(value)));
    const bool is_null =
        (field.zero_is_null && value == 0) || (field.negative_is_null && value < 0);
    is_null ? sink_.null() : sink_.integer(value);
  }

  void text(const JsonField& field, const std::string& value) {
    field.kind == JsonField::Kind::raw ? sink_.raw(value) : sink_.text(value);
  }

  void word(const JsonField& field, int value) {
    const auto known = field.words.find(value);
    sink_.text(known == field.words.end() ? "unknown" : known->second);
  }

  void value(const JsonField& field, const FieldDescriptor* descriptor, const Message& message,
             const Reflection& reflection) {
    std::string scratch;
    switch (descriptor->cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL:
        return sink_.boolean(reflection.GetBool(message, descriptor));
      case FieldDescriptor::CPPTYPE_INT32:
        return integer(field, reflection.GetInt32(message, descriptor));
      case FieldDescriptor::CPPTYPE_INT64:
        return integer(field, reflection.GetInt64(message, descriptor));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return sink_.real(reflection.GetDouble(message, descriptor));
      case FieldDescriptor::CPPTYPE_STRING:
        return text(field, reflection.GetStringReference(message, descriptor, &scratch));
      case FieldDescriptor::CPPTYPE_ENUM:
        return word(field, reflection.GetEnumValue(message, descriptor));
      default:
        return object(*field.message, reflection.GetMessage(message, descriptor));
    }
  }

  void list(const JsonField& field, const Message& message, const Reflection& reflection,
            int count) {
    sink_.open('[');
    for (int i = 0; i < count; ++i) item(field, message, reflection, i);
    sink_.close(']');
  }

  void item(const JsonField& field, const Message& message, const Reflection& reflection, int i) {
    const FieldDescriptor* descriptor = field.field;
    std::string scratch;
    switch (descriptor->cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL:
        return sink_.boolean(reflection.GetRepeatedBool(message, descriptor, i));
      case FieldDescriptor::CPPTYPE_INT32:
        return integer(field, reflection.GetRepeatedInt32(message, descriptor, i));
      case FieldDescriptor::CPPTYPE_INT64:
        return integer(field, reflection.GetRepeatedInt64(message, descriptor, i));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return sink_.real(reflection.GetRepeatedDouble(message, descriptor, i));
      case FieldDescriptor::CPPTYPE_STRING:
        return text(field, reflection.GetRepeatedStringReference(message, descriptor, i, &scratch));
      case FieldDescriptor::CPPTYPE_ENUM:
        return word(field, reflection.GetRepeatedEnumValue(message, descriptor, i));
      default:
        return object(*field.message, reflection.GetRepeatedMessage(message, descriptor, i));
    }
  }

  Sink& sink_;
  const JsonFilter& filter_;
};

template <typename Sink>
auto write(const Message& message, const JsonFilter& filter) {
  Sink sink;
  Writer(sink, filter).object(json_plan_of(message.GetDescriptor()), message);
  return sink.take();
}

}  // namespace

std::string to_json_text(const Message& message, const JsonFilter& filter) {
  return write<TextSink>(message, filter);
}

Json to_json(const Message& message) { return write<ValueSink>(message, {}); }

}  // namespace hai
