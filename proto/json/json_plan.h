#pragma once
// How the messages of a type appear as JSON: their descriptor and its options (options.proto),
// worked out once.

#include <google/protobuf/descriptor.h>

#include <map>
#include <string>
#include <vector>

namespace hai {

struct JsonPlan;

struct JsonField {
  enum class Kind { boolean, integer, real, text, word, time, raw, message };

  const google::protobuf::FieldDescriptor* field = nullptr;
  Kind kind = Kind::text;  // of each, if there are many
  std::string name;
  std::string key;           // "name": as it is written
  std::string in;            // the object around it, "" = none
  bool is_first_in = false;  // of its neighbours there
  bool is_last_in = false;
  bool may_be_absent = false;  // `optional`
  bool is_hidden = false;
  bool is_omitted = false;
  bool is_inlined = false;
  bool is_required = false;
  bool takes_numbers = false;
  bool zero_is_null = false;
  bool negative_is_null = false;
  std::string told_by;
  std::map<int, std::string> words;   // of an enum: JOB_ACTION_STOP is "stop"
  const JsonPlan* message = nullptr;  // of a message, or of the values of a map
};

struct JsonPlan {
  const google::protobuf::Descriptor* type = nullptr;
  std::vector<JsonField> fields;  // as declared, hidden ones too

  const JsonField* find(std::string_view name) const;  // that is not hidden, by its JSON name
};

// From any thread.
const JsonPlan& json_plan_of(const google::protobuf::Descriptor* type);

}  // namespace hai
