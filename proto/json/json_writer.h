#pragma once
// Messages → JSON by their descriptors, so that REST and `hai -o json` cannot differ. Whatever
// bytes a program said come out as valid UTF-8.

#include <google/protobuf/message.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace hai {

// Of the messages of this type only these fields, by their JSON names; none = all.
struct JsonFilter {
  const google::protobuf::Descriptor* type = nullptr;
  std::vector<std::string> names;
};

// In one line without an end.
std::string to_json_text(const google::protobuf::Message& message, const JsonFilter& filter = {});
// The same as a value, to be part of a greater one.
nlohmann::ordered_json to_json(const google::protobuf::Message& message);

}  // namespace hai
