#include "server/api/call_needs.h"

#include "common/check.h"
#include "proto/json/call_options.h"
#include "server/api/words.h"

namespace hai {
namespace {

Role role_of(const std::string& word) {
  if (word == "anyone" || word == "owner") return Role::user;
  const Result<Role> role = kRoles.read("role", word);
  CHECK(role.is_ok());  // an option of the contract that means nothing
  return role.value();
}

TokenScope scope_of(const v1::Route& route, Role role) {
  if (!route.scope().empty()) {
    const Result<TokenScope> scope = kTokenScopes.read("scope", route.scope());
    CHECK(scope.is_ok());
    return scope.value();
  }
  const bool only_reads = route.has_get() || route.role() == "anyone";
  return role == Role::user && only_reads ? TokenScope::read : widest_scope(role);
}

}  // namespace

CallNeeds needs_of(const std::string& name) {
  const google::protobuf::MethodDescriptor& call = call_named(name);
  CallNeeds needs{.call = call.name()};
  const auto routes = call.options().GetRepeatedExtension(v1::route);
  if (routes.empty() && call.options().GetExtension(v1::is_submit)) {
    needs.scope = TokenScope::submit;
  }
  for (const v1::Route& route : routes) {
    const Role role = role_of(route.role());
    const TokenScope scope = scope_of(route, role);
    const bool is_first = &route == &*routes.begin();
    CHECK(is_first || (role == needs.role && scope == needs.scope));  // names of one call
    needs.role = role;
    needs.scope = scope;
  }
  return needs;
}

}  // namespace hai
