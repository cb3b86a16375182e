#pragma once
// The Api's messages as schemas of the document of the REST interface, by their descriptors, so
// that it and the dashboard's types cannot drift from what is served.

#include <set>
#include <string>

#include "proto/json/json_plan.h"
#include "server/http/json.h"
#include "server/http/proto_comments.h"

namespace hai {

Json schema_ref(const std::string& name);  // {"$ref": "#/components/schemas/NAME"}
Json or_null(Json schema);

// One value of a field, whatever it is in a list of.
Json value_schema(const JsonField& field);

// What a request may say by this field, with its limits. Of a list: each of its values.
Json request_schema(const JsonField& field);
// What stands in an option as the field has it.
Json option_value(const JsonField& field, const std::string& text);

// Adds to components.schemas each message that the document refers to and does not have, and those
// that these refer to.
void add_schemas(const ProtoComments& comments, Json& document);

}  // namespace hai
