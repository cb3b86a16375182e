// Users, tokens and quotas.

#include "server/api/account_changes.h"
#include "server/api/actions.h"
#include "server/api/answers.h"
#include "server/api/operations.h"
#include "server/api/sign_in.h"
#include "server/api/text_limits.h"
#include "server/api/words.h"
#include "server/auth/token.h"
#include "server/control/engine/controller.h"

namespace hai {

namespace {

constexpr size_t kUserGroupsMax = 64;

Status check_user(const User& user) {
  RETURN_IF_ERROR(check_person("user name", user.name));
  if (user.groups.size() > kUserGroupsMax) {
    return invalid_argument("a user is in {} groups at most, {} given", kUserGroupsMax,
                            user.groups.size());
  }
  for (const std::string& group : user.groups) {
    RETURN_IF_ERROR(check_person("user group", group));
  }
  return ok();
}

// What the request leaves out stays as it is.
Result<std::optional<User>> changed_user(const User* known, const v1::SetUserRequest& request) {
  const bool is_added = known == nullptr || request.only_new();
  User user = is_added ? User{.name = request.name()} : *known;
  if (request.has_role()) {
    const Result<Role> role = kRoles.read("role", request.role());
    if (!role.is_ok()) return role.status();
    user.role = role.value();
  }
  if (request.has_active()) user.active = request.active();
  if (request.set_groups()) user.groups = {request.groups().begin(), request.groups().end()};
  RETURN_IF_ERROR(check_user(user));
  if (is_added && known != nullptr) {
    // As the same call, whose answer was lost, has added him.
    if (known->is_same_account(user)) return std::optional<User>();
    return already_exists(
        "the user {} is there already and was not changed: `hai user set {} ...` changes what it "
        "names",
        user.name, user.name);
  }
  return std::optional(std::move(user));
}

struct QuotaName {
  Quota quota;                       // owner and group
  std::optional<Priority> priority;  // none: every level, "*"
};

// Answers with the row as it is after the change; for all levels (*) with what was asked.
void show_quota(Queries& queries, const Caller& caller, const QuotaName& name,
                Answer<v1::Quota> answer) {
  queries.list_quotas(
      caller, name.quota.owner,
      [name, answer = std::move(answer)](Result<std::vector<QuotaView>> quotas) {
        if (!quotas.is_ok()) return answer(quotas.status());
        for (const QuotaView& view : quotas.value()) {
          if (view.quota.group != name.quota.group) continue;
          if (name.priority && view.quota.priority != *name.priority) continue;
          return answer(Fill<v1::Quota>([view, is_any = !name.priority](v1::Quota& reply) {
            to_proto(view, reply);
            if (is_any) reply.set_priority("*");
          }));
        }
        answer(aborted("the quota of {} was removed meanwhile", name.quota.owner));
      });
}

struct NewToken {
  std::string user;
  std::string label;
  Duration ttl{};
  std::optional<TokenScope> scope;
};

constexpr Duration kTokenTtlMin = 1min;

Result<NewToken> new_token(const v1::CreateTokenRequest& request, const SignInDesk::Rules& rules) {
  NewToken wanted{.user = request.user(), .label = request.label(), .ttl = rules.token_ttl};
  if (!request.ttl().empty()) {
    const Result<Duration> ttl = parse_duration(request.ttl());
    if (!ttl.is_ok()) return invalid_argument("ttl: {}", ttl.status().message());
    wanted.ttl = ttl.value();
  }
  if (wanted.ttl < kTokenTtlMin || wanted.ttl > rules.token_ttl_max) {
    return invalid_argument("ttl: a token holds for {} to {} here, not for {}",
                            format_duration(kTokenTtlMin), format_duration(rules.token_ttl_max),
                            format_duration(wanted.ttl));
  }
  if (!request.scope().empty()) {
    const Result<TokenScope> scope = kTokenScopes.read("scope", request.scope());
    if (!scope.is_ok()) return scope.status();
    wanted.scope = scope.value();
  }
  return wanted;
}

// Without a wish as much as the user's role and the maker's own token allow.
Result<TokenScope> scope_for(std::optional<TokenScope> wanted, const User& user,
                             const Actor& maker) {
  const TokenScope most = widest_scope(user.role);
  if (!wanted) return std::min(most, maker.scope);
  if (*wanted <= most) return *wanted;
  return invalid_argument("scope: {} is {} {}, whose tokens are for {} at most, not for {}",
                          user.name, user.role == Role::user ? "a" : "an", to_string(user.role),
                          to_string(most), to_string(*wanted));
}

}  // namespace

Prepared<v1::WhoAmIReply> OperationBodies::WhoAmI(const v1::WhoAmIRequest&) {
  return [this](const Caller& caller, Answer<v1::WhoAmIReply> answer) {
    parts_.queries.who_am_i(caller, answer_with<WhoAmIView>(answer, [this](const WhoAmIView& view,
                                                                           v1::WhoAmIReply& reply) {
                              to_proto(view, reply);
                              reply.set_services_url(parts_.services_url);
                            }));
  };
}

Prepared<v1::ListQuotasReply> OperationBodies::ListQuotas(const v1::ListQuotasRequest& request) {
  return [this, owner = request.owner()](const Caller& caller, Answer<v1::ListQuotasReply> answer) {
    parts_.queries.list_quotas(
        caller, owner,
        answer_with<std::vector<QuotaView>>(
            answer, [](const std::vector<QuotaView>& quotas, v1::ListQuotasReply& reply) {
              add_all(quotas, reply.mutable_quotas());
            }));
  };
}

Prepared<v1::Quota> OperationBodies::SetQuota(const v1::SetQuotaRequest& request) {
  Result<std::optional<Priority>> priority = parse_quota_priority(request.priority());
  if (!priority.is_ok()) return priority.status();
  QuotaName name{.quota = {.owner = request.owner(), .group = request.group()},
                 .priority = priority.value()};
  name.quota.nodes = request.nodes();
  return [this, name](const Caller& caller, Answer<v1::Quota> answer) {
    parts_.actions.set_quota(caller, name.quota, name.priority,
                             [this, caller, name, answer](Result<CommandReply> done) {
                               if (!done.is_ok()) return answer(done.status());
                               show_quota(parts_.queries, caller, name, answer);
                             });
  };
}

Prepared<v1::DeleteQuotaReply> OperationBodies::DeleteQuota(const v1::DeleteQuotaRequest& request) {
  Result<std::optional<Priority>> priority = parse_quota_priority(request.priority());
  if (!priority.is_ok()) return priority.status();
  return [this, quota = Quota{.owner = request.owner(), .group = request.group()},
          priority = priority.value()](const Caller& caller, Answer<v1::DeleteQuotaReply> answer) {
    parts_.actions.remove_quota(caller, quota, priority, answer_done(answer));
  };
}

Prepared<v1::ListUsersReply> OperationBodies::ListUsers(const v1::ListUsersRequest&) {
  return [this](const Caller& caller, Answer<v1::ListUsersReply> answer) {
    parts_.queries.list_users(
        caller, answer_with<std::vector<User>>(
                    answer, [](const std::vector<User>& users, v1::ListUsersReply& reply) {
                      add_all(users, reply.mutable_users());
                    }));
  };
}

Prepared<v1::User> OperationBodies::SetUser(const v1::SetUserRequest& request) {
  return [this, request](const Caller& caller, Answer<v1::User> answer) {
    parts_.accounts.run(
        caller, request.name(),
        [request](const User* known) { return changed_user(known, request); },
        answer_with<User>(answer,
                          [](const User& user, v1::User& reply) { to_proto(user, reply); }));
  };
}

Prepared<v1::RemoveUserReply> OperationBodies::RemoveUser(const v1::RemoveUserRequest& request) {
  return [this, name = request.name()](const Caller& caller, Answer<v1::RemoveUserReply> answer) {
    parts_.accounts.remove(caller, name, answer_done(answer));
  };
}

// The secret is in this answer and nowhere else: only its hash is kept.
Prepared<v1::CreateTokenReply> OperationBodies::CreateToken(const v1::CreateTokenRequest& request) {
  Result<NewToken> wanted = new_token(request, parts_.sign_in.rules());
  if (!wanted.is_ok()) return wanted.status();
  return [this, wanted = wanted.value()](const Caller& caller,
                                         Answer<v1::CreateTokenReply> answer) {
    parts_.queries.controller().read(
        caller,
        [this, wanted, caller, answer](const Controller::ReadContext& context, const Actor& actor) {
          const std::string name = wanted.user.empty() ? actor.user : wanted.user;
          const User* user = context.state.find_user(name);
          if (user == nullptr) {
            return answer(not_found("user {} does not exist", asked_name(name)));
          }
          const Result<TokenScope> scope = scope_for(wanted.scope, *user, actor);
          if (!scope.is_ok()) return answer(scope.status());
          const std::string secret = make_token_secret();
          const UnixTime now = parts_.loop.wall_now();
          const Token token{.hash = hash_token(secret),
                            .user = name,
                            .label = wanted.label,
                            .created_at = now,
                            .scope = scope.value(),
                            .expires_at = now + wanted.ttl};
          parts_.actions.add_token(
              caller, token,
              answer_with<CommandReply>(
                  answer, [token, secret](const CommandReply&, v1::CreateTokenReply& reply) {
                    to_proto(token, *reply.mutable_token());
                    reply.set_secret(secret);
                  }));
        },
        answer);
  };
}

Prepared<v1::ListTokensReply> OperationBodies::ListTokens(const v1::ListTokensRequest& request) {
  return [this, user = request.user()](const Caller& caller, Answer<v1::ListTokensReply> answer) {
    parts_.queries.list_tokens(
        caller, user,
        answer_with<std::vector<Token>>(
            answer, [](const std::vector<Token>& tokens, v1::ListTokensReply& reply) {
              add_all(tokens, reply.mutable_tokens());
            }));
  };
}

Prepared<v1::RevokeTokenReply> OperationBodies::RevokeToken(const v1::RevokeTokenRequest& request) {
  return [this, id = request.id()](const Caller& caller, Answer<v1::RevokeTokenReply> answer) {
    parts_.queries.find_token(caller, id, [this, caller, answer](Result<Token> token) {
      if (!token.is_ok()) return answer(token.status());
      parts_.queries.controller().submit(caller, hai::RevokeToken{token.value().hash},
                                         answer_done(answer));
    });
  };
}

}  // namespace hai
