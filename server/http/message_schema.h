#pragma once
// What the document of the REST interface says of the Api's messages, by their descriptors, so that
// it and the dashboard's types cannot drift from what is served. What a field or a verb means is
// the comment beside it in the .proto file.

#include "server/http/json.h"

namespace hai {

// Adds to the paths who may, what it means and what it answers of each call's routes; the verbs for
// one job or node that take a reason and no more; and to components.schemas each message that the
// document refers to and does not have, and those that these refer to.
void add_message_parts(Json& document);

}  // namespace hai
