#pragma once
// The paths of the document of the REST interface, by `option (route)` of each call: what it means,
// who may, its parameters, its body and what it answers.

#include "server/http/json.h"
#include "server/http/proto_comments.h"

namespace hai {

// What the document says of a path already stays: parameters that no field of the request is, and
// bodies and answers that are no JSON of messages.
void add_paths(const ProtoComments& comments, Json& document);

}  // namespace hai
