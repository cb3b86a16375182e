#pragma once
// Mutations of messages that stay messages: bytes that protobuf refuses end at its parser, and
// would never reach what reads the fields. What comes out are the serialised bytes again.

#include <google/protobuf/message.h>

#include <string>

#include "common/rng.h"

namespace hai::fuzz {

// Changes one or some fields, anywhere in it: to values at the edges of their types, to texts that
// are long, empty or no UTF-8, to many elements, to none.
void mutate_message(Rng& rng, google::protobuf::Message& message);

}  // namespace hai::fuzz
