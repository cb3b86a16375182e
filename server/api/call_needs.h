#pragma once
// Who may ask what: the table of calls, roles and scopes that the options of the contract make
// (proto/hai/v1/api.proto, options.proto).

#include <string>

#include "server/control/command.h"

namespace hai {

// Of the call of the Api of this name, which there must be. One that is for anyone, or for the
// owner of a job, needs no role beyond a user's: those are judged by what is shown or meant.
CallNeeds needs_of(const std::string& call);

}  // namespace hai
