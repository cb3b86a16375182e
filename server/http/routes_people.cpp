// /api/v1/whoami, /api/v1/users, /api/v1/tokens

#include <nlohmann/json.hpp>

#include "server/api/actions.h"
#include "server/auth/token.h"
#include "server/http/json_body.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"

namespace hai {

namespace {

using Parameters = HttpRouter::Parameters;

template <typename T>
auto list_format(std::string_view key) {
  return [key](const std::vector<T>& values) {
    Json items = Json::array();
    for (const T& value : values) items.push_back(to_json(value));
    return list_response(key, std::move(items), {});
  };
}

// What the body leaves out stays as it is.
Result<User> changed_user(const std::vector<User>& users, const std::string& name,
                          const Json& body) {
  User user{.name = name};
  for (const User& known : users) {
    if (known.name == name) user = known;
  }
  if (body.contains("role")) {
    Result<std::string> word = string_at(body, "role");
    if (!word.is_ok()) return word.status();
    const std::optional<Role> role = parse_enum<Role>(word.value());
    if (!role) {
      return invalid_argument("role: is user, operator or admin, not {}",
                              word.value().substr(0, 100));
    }
    user.role = *role;
  }
  if (body.contains("active")) {
    if (!body["active"].is_boolean()) return invalid_argument("active: must be true or false");
    user.active = body["active"].get<bool>();
  }
  if (body.contains("groups")) {
    Result<std::vector<std::string>> groups = names_at(body, "groups");
    if (!groups.is_ok()) return groups.status();
    user.groups = groups.value();
  }
  return user;
}

void put_user(const HttpParts& parts, const HttpRequest& request, const std::string& name,
              HttpRespond respond) {
  Result<Json> body = object_of(request.body);
  if (!body.is_ok()) return respond(problem(body.status()));
  Status status = check_keys(body.value(), {"role", "active", "groups"});
  if (!status.is_ok()) return respond(problem(status));
  auto json = std::make_shared<const Json>(std::move(body).value());
  parts.loop.post([&parts, caller = caller_of(request), name, json, respond] {
    parts.queries.list_users(
        caller, [&parts, caller, name, json, respond](Result<std::vector<User>> users) {
          if (!users.is_ok()) return respond(problem(users.status()));
          Result<User> user = changed_user(users.value(), name, *json);
          if (!user.is_ok()) return respond(problem(user.status()));
          parts.actions.set_user(caller, user.value(),
                                 [user = user.value(), respond](Result<CommandReply> reply) {
                                   if (!reply.is_ok()) return respond(problem(reply.status()));
                                   respond(json_response(to_json(user)));
                                 });
        });
  });
}

struct TokenWish {
  std::string user;  // "" = the caller
  std::string label;
};

Result<TokenWish> token_wish(const HttpRequest& request) {
  if (request.body.empty()) return TokenWish{};
  Result<Json> body = object_of(request.body);
  if (!body.is_ok()) return body.status();
  RETURN_IF_ERROR(check_keys(body.value(), {"user", "label"}));
  Result<std::string> user = optional_string_at(body.value(), "user");
  if (!user.is_ok()) return user.status();
  Result<std::string> label = optional_string_at(body.value(), "label");
  if (!label.is_ok()) return label.status();
  return TokenWish{user.value(), label.value()};
}

// The secret is in this answer and nowhere else: only its hash is kept.
void create_token(const HttpParts& parts, const HttpRequest& request, HttpRespond respond) {
  Result<TokenWish> wish = token_wish(request);
  if (!wish.is_ok()) return respond(problem(wish.status()));
  parts.loop.post([&parts, caller = caller_of(request), wish = wish.value(), respond] {
    parts.queries.who_am_i(caller, [&parts, caller, wish, respond](Result<WhoAmIView> me) {
      if (!me.is_ok()) return respond(problem(me.status()));
      const std::string secret = make_token_secret();
      const Token token{.hash = hash_token(secret),
                        .user = wish.user.empty() ? me.value().user.name : wish.user,
                        .label = wish.label,
                        .created_at = parts.loop.wall_now()};
      parts.actions.add_token(caller, token, [token, secret, respond](Result<CommandReply> reply) {
        if (!reply.is_ok()) return respond(problem(reply.status()));
        Json json = to_json(token);
        json["secret"] = secret;
        respond(json_response(json, 201));
      });
    });
  });
}

void revoke_token(const HttpParts& parts, const HttpRequest& request, const std::string& id,
                  HttpRespond respond) {
  parts.loop.post([&parts, caller = caller_of(request), id, respond] {
    parts.queries.find_token(caller, id, [&parts, caller, respond](Result<Token> token) {
      if (!token.is_ok()) return respond(problem(token.status()));
      parts.controller.submit(caller, RevokeToken{token.value().hash}, respond_empty(respond));
    });
  });
}

}  // namespace

void add_people_routes(HttpRouter& router, const HttpParts& parts) {
  router.add("GET", "/api/v1/users",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               parts.loop.post([&parts, caller = caller_of(request), respond] {
                 parts.queries.list_users(
                     caller, respond_with<std::vector<User>>(respond, list_format<User>("users")));
               });
             });
  router.add(
      "PUT", "/api/v1/users/{name}",
      [&parts](const HttpRequest& request, const Parameters& parameters, HttpRespond respond) {
        put_user(parts, request, parameters.at("name"), std::move(respond));
      });
  router.add("GET", "/api/v1/tokens",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               const std::string user(request.query_value("user"));
               parts.loop.post([&parts, caller = caller_of(request), user, respond] {
                 parts.queries.list_tokens(
                     caller, user,
                     respond_with<std::vector<Token>>(respond, list_format<Token>("tokens")));
               });
             });
  router.add("POST", "/api/v1/tokens",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               create_token(parts, request, std::move(respond));
             });
  router.add(
      "DELETE", "/api/v1/tokens/{id}",
      [&parts](const HttpRequest& request, const Parameters& parameters, HttpRespond respond) {
        revoke_token(parts, request, parameters.at("id"), std::move(respond));
      });
  router.add("GET", "/api/v1/whoami",
             [&parts](const HttpRequest& request, const Parameters&, HttpRespond respond) {
               parts.loop.post([&parts, caller = caller_of(request), respond] {
                 parts.queries.who_am_i(
                     caller, respond_with<WhoAmIView>(respond, [](const WhoAmIView& view) {
                       return json_response(to_json(view));
                     }));
               });
             });
}

}  // namespace hai
