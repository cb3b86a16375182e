// Users, quotas and tokens.

#include "server/api/actions.h"
#include "server/auth/token.h"
#include "server/rpc/api_convert.h"
#include "server/rpc/api_service.h"
#include "server/rpc/unary_call.h"

namespace hai {

namespace {

// What SetUser leaves out stays as it is.
Result<User> changed_user(const std::vector<User>& users, const v1::SetUserRequest& request) {
  User user{.name = request.name()};
  for (const User& known : users) {
    if (known.name == request.name()) user = known;
  }
  if (request.has_role()) {
    const std::optional<Role> role = parse_enum<Role>(request.role());
    if (!role) return invalid_argument("role is user, operator or admin, not {}", request.role());
    user.role = *role;
  }
  if (request.has_active()) user.active = request.active();
  if (request.set_groups()) user.groups = {request.groups().begin(), request.groups().end()};
  return user;
}

}  // namespace

grpc::ServerUnaryReactor* ApiService::WhoAmI(grpc::CallbackServerContext* context,
                                             const v1::WhoAmIRequest*, v1::WhoAmIReply* reply) {
  return on_loop(site_, context, [this, caller = caller_of(*context), reply](UnaryCall call) {
    queries_.who_am_i(caller, finish_with<WhoAmIView>(call, [reply](const WhoAmIView& view) {
                        reply->set_user(view.user.name);
                        reply->set_role(std::string(to_string(view.user.role)));
                        for (const std::string& group : view.user.groups) reply->add_groups(group);
                        for (const QuotaView& quota : view.quotas) {
                          to_proto(quota, *reply->add_quotas());
                        }
                        reply->set_cluster(view.cluster);
                      }));
  });
}

grpc::ServerUnaryReactor* ApiService::ListQuotas(grpc::CallbackServerContext* context,
                                                 const v1::ListQuotasRequest* request,
                                                 v1::ListQuotasReply* reply) {
  return on_loop(site_, context,
                 [this, caller = caller_of(*context), request, reply](UnaryCall call) {
                   queries_.list_quotas(caller, request->owner(),
                                        finish_with<std::vector<QuotaView>>(
                                            call, [reply](const std::vector<QuotaView>& quotas) {
                                              for (const QuotaView& quota : quotas) {
                                                to_proto(quota, *reply->add_quotas());
                                              }
                                            }));
                 });
}

grpc::ServerUnaryReactor* ApiService::SetQuota(grpc::CallbackServerContext* context,
                                               const v1::SetQuotaRequest* request,
                                               v1::Quota* reply) {
  Result<std::optional<Priority>> priority = parse_quota_priority(request->priority());
  if (!priority.is_ok()) return refuse(context, priority.status());
  return on_loop(site_, context,
                 [this, caller = caller_of(*context), request, reply,
                  priority = priority.value()](UnaryCall call) {
                   Quota quota{.owner = request->owner(), .group = request->group()};
                   quota.nodes = request->nodes();
                   actions_.set_quota(
                       caller, quota, priority,
                       finish_with<CommandReply>(call, [request, reply](const CommandReply&) {
                         reply->set_owner(request->owner());
                         reply->set_group(request->group());
                         reply->set_priority(request->priority());
                         reply->set_nodes(std::max(request->nodes(), -1));
                       }));
                 });
}

grpc::ServerUnaryReactor* ApiService::DeleteQuota(grpc::CallbackServerContext* context,
                                                  const v1::DeleteQuotaRequest* request,
                                                  v1::DeleteQuotaReply*) {
  Result<std::optional<Priority>> priority = parse_quota_priority(request->priority());
  if (!priority.is_ok()) return refuse(context, priority.status());
  return on_loop(
      site_, context,
      [this, caller = caller_of(*context), request, priority = priority.value()](UnaryCall call) {
        actions_.remove_quota(caller, {.owner = request->owner(), .group = request->group()},
                              priority,
                              finish_with<CommandReply>(call, [](const CommandReply&) {}));
      });
}

grpc::ServerUnaryReactor* ApiService::ListUsers(grpc::CallbackServerContext* context,
                                                const v1::ListUsersRequest*,
                                                v1::ListUsersReply* reply) {
  return on_loop(site_, context, [this, caller = caller_of(*context), reply](UnaryCall call) {
    queries_.list_users(
        caller, finish_with<std::vector<User>>(call, [reply](const std::vector<User>& users) {
          for (const User& user : users) {
            to_proto(user, *reply->add_users());
          }
        }));
  });
}

grpc::ServerUnaryReactor* ApiService::SetUser(grpc::CallbackServerContext* context,
                                              const v1::SetUserRequest* request, v1::User* reply) {
  return on_loop(
      site_, context, [this, caller = caller_of(*context), request, reply](UnaryCall call) {
        queries_.list_users(caller, [=, this](Result<std::vector<User>> users) {
          if (!users.is_ok()) return call.finish(to_grpc(users.status()));
          Result<User> user = changed_user(users.value(), *request);
          if (!user.is_ok()) return call.finish(to_grpc(user.status()));
          actions_.set_user(
              caller, user.value(),
              finish_with<CommandReply>(call, [reply, user = user.value()](const CommandReply&) {
                to_proto(user, *reply);
              }));
        });
      });
}

grpc::ServerUnaryReactor* ApiService::CreateToken(grpc::CallbackServerContext* context,
                                                  const v1::CreateTokenRequest* request,
                                                  v1::CreateTokenReply* reply) {
  if (request->has_expires_at_us()) {
    return refuse(context, unimplemented("tokens do not expire yet; revoke them instead"));
  }
  return on_loop(
      site_, context, [this, caller = caller_of(*context), request, reply](UnaryCall call) {
        queries_.who_am_i(caller, [=, this](Result<WhoAmIView> me) {
          if (!me.is_ok()) return call.finish(to_grpc(me.status()));
          const std::string secret = make_token_secret();
          const Token token{
              .hash = hash_token(secret),
              .user = request->user().empty() ? me.value().user.name : request->user(),
              .label = request->label(),
              .created_at = loop_.wall_now()};
          actions_.add_token(
              caller, token,
              finish_with<CommandReply>(call, [reply, token, secret](const CommandReply&) {
                to_proto(token, *reply->mutable_token());
                reply->set_secret(secret);
              }));
        });
      });
}

grpc::ServerUnaryReactor* ApiService::ListTokens(grpc::CallbackServerContext* context,
                                                 const v1::ListTokensRequest* request,
                                                 v1::ListTokensReply* reply) {
  return on_loop(
      site_, context, [this, caller = caller_of(*context), request, reply](UnaryCall call) {
        queries_.list_tokens(
            caller, request->user(),
            finish_with<std::vector<Token>>(call, [reply](const std::vector<Token>& tokens) {
              for (const Token& token : tokens) {
                to_proto(token, *reply->add_tokens());
              }
            }));
      });
}

grpc::ServerUnaryReactor* ApiService::RevokeToken(grpc::CallbackServerContext* context,
                                                  const v1::RevokeTokenRequest* request,
                                                  v1::RevokeTokenReply*) {
  return on_loop(site_, context, [this, caller = caller_of(*context), request](UnaryCall call) {
    queries_.find_token(caller, request->id(), [=, this](Result<Token> token) {
      if (!token.is_ok()) return call.finish(to_grpc(token.status()));
      queries_.controller().submit(caller, hai::RevokeToken{token.value().hash},
                                   finish_with<CommandReply>(call, [](const CommandReply&) {}));
    });
  });
}

}  // namespace hai
