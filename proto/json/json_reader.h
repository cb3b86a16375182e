#pragma once
// Requests of REST → messages, by their descriptors: the body as a JSON object, and parameters of
// path and query as texts. Errors are invalid_argument and name the field by its JSON name.

#include <google/protobuf/message.h>

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

#include "common/status.h"

namespace hai {

// Of any body that is parsed: the parser recurses once per level.
Status check_json_depth(const std::string& body);
// Each key of the body must be a field that is not in `taken`: those stand in the path.
Status read_json(const std::string& body, const std::set<std::string>& taken,
                 google::protobuf::Message& out);
// The same of a part of a body that was parsed already.
Status read_object(const nlohmann::ordered_json& object, const std::set<std::string>& taken,
                   google::protobuf::Message& out);
// Sets the field, or adds to it if there may be many. One that is not there, or an empty text of a
// number, changes nothing: who calls has judged the names.
Status read_parameter(std::string_view name, const std::string& text,
                      google::protobuf::Message& out);
// "field=value", by the field's own name; of a route's options, so an error is a bug.
void read_preset(std::string_view preset, google::protobuf::Message& out);

}  // namespace hai
