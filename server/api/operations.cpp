#include "server/api/operations.h"

#include "server/api/call_needs.h"

namespace hai {

#define HAI_OPERATION(name, Request, Reply)                       \
  Prepared<v1::Reply> Operations::name(const v1::Request& call) { \
    static const CallNeeds needs = needs_of(#name);               \
    return bodies_.name(call).held_to(needs);                     \
  }
HAI_OPERATIONS(HAI_OPERATION)
#undef HAI_OPERATION

}  // namespace hai
