#pragma once
// The words of the model as enumerations of the document of the REST interface.

#include "server/http/json.h"

namespace hai {

void add_words(Json& schemas);

}  // namespace hai
