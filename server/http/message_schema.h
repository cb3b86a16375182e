#pragma once
// JSON Schemas of the Api's messages, by their descriptors, so that the document of the REST
// interface and the dashboard's types cannot drift from what is served. What a field means is the
// comment beside it in the .proto file.

#include "server/http/json.h"

namespace hai {

// Adds to components.schemas each message that the document refers to and does not have, and those
// that these refer to.
void add_message_schemas(Json& document);

}  // namespace hai
