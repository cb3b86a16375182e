// Users, quotas and tokens.

#include <set>

#include "server/api/queries.h"
#include "server/api/text_limits.h"
#include "server/auth/token.h"

namespace hai {

namespace {

QuotaView view_quota(const ClusterState& state, const Quota& quota) {
  const int64_t units = state.used_node_units(quota.owner, quota.group, quota.priority);
  return {quota, (units + ClusterState::kNodeUnit - 1) / ClusterState::kNodeUnit};
}

// Level by level in each group that has nodes.
std::vector<QuotaView> quotas_in_force(const ClusterState& state, const User& user) {
  std::set<std::string> groups;
  for (const auto& [group, sizes] : state.node_census().groups()) groups.insert(group);
  std::vector<QuotaView> quotas;
  for (const std::string& group : groups) {
    for (Priority priority : kPriorities) {
      const std::optional<int64_t> nodes = state.quota_nodes(user, group, priority);
      if (nodes) quotas.push_back(view_quota(state, {user.name, group, priority, *nodes}));
    }
  }
  return quotas;
}

}  // namespace

void Queries::who_am_i(const Caller& caller, Done<WhoAmIView> done) {
  controller_.read(
      caller,
      [done](const Controller::ReadContext& context, const Actor& actor) {
        const User* user = context.state.find_user(actor.user);
        if (user == nullptr) return done(not_found("user {} does not exist", actor.user));
        WhoAmIView view{*user, quotas_in_force(context.state, *user), context.cluster};
        view.user.role = actor.role;  // no more than his token's scope
        done(std::move(view));
      },
      done);
}

void Queries::list_quotas(const Caller& caller, const std::string& owner,
                          Done<std::vector<QuotaView>> done) {
  controller_.read(
      caller,
      [owner, done](const Controller::ReadContext& context, const Actor&) {
        std::vector<QuotaView> quotas;
        for (const auto& [key, quota] : context.state.quotas()) {
          if (owner.empty() || quota.owner == owner) {
            quotas.push_back(view_quota(context.state, quota));
          }
        }
        done(std::move(quotas));
      },
      done);
}

void Queries::list_users(const Caller& caller, Done<std::vector<User>> done) {
  controller_.read(
      caller,
      [done](const Controller::ReadContext& context, const Actor&) {
        std::vector<User> users;
        for (const auto& [name, user] : context.state.users()) users.push_back(user);
        done(std::move(users));
      },
      done);
}

void Queries::list_tokens(const Caller& caller, const std::string& user,
                          Done<std::vector<Token>> done) {
  controller_.read(
      caller,
      [user, done](const Controller::ReadContext& context, const Actor& actor) {
        const std::string& owner = user.empty() ? actor.user : user;
        if (owner != actor.user && actor.role != Role::admin) {
          return done(permission_denied("only admins see the tokens of {}", asked_name(owner)));
        }
        std::vector<Token> tokens;
        for (const auto& [hash, token] : context.state.tokens()) {
          if (token.user == owner && token.kind != TokenKind::join) tokens.push_back(token);
        }
        done(std::move(tokens));
      },
      done);
}

void Queries::find_token(const Caller& caller, const std::string& id, Done<Token> done) {
  controller_.read(
      caller,
      [id, own = caller.token_hash, done](const Controller::ReadContext& context,
                                          const Actor& actor) {
        for (const auto& [hash, token] : context.state.tokens()) {
          const bool may_see = token.user == actor.user || actor.role == Role::admin;
          if (token.kind == TokenKind::join) continue;  // which are listed by themselves
          if (!may_see || token_id(hash) != id) continue;
          if (token.scope <= actor.scope || hash == own) return done(token);
          return done(permission_denied("a token of scope {} ends none of scope {}",
                                        to_string(actor.scope), to_string(token.scope)));
        }
        done(not_found("token {} does not exist", asked_name(id)));
      },
      done);
}

void Queries::list_secrets(const Caller& caller, const std::string& user,
                           Done<std::vector<Secret>> done) {
  controller_.read(
      caller,
      [user, done](const Controller::ReadContext& context, const Actor& actor) {
        const std::string& owner = user.empty() ? actor.user : user;
        if (owner != actor.user && actor.role != Role::admin) {
          return done(permission_denied("only admins see the names of others' secrets"));
        }
        std::vector<Secret> secrets;
        const auto& all = context.state.secrets();
        for (auto at = all.lower_bound({owner, ""}); at != all.end() && at->first.first == owner;
             ++at) {
          const Secret& row = at->second;
          secrets.push_back({.user = row.user,
                             .name = row.name,
                             .sealed = "",
                             .set_at = row.set_at,
                             .version = row.version});
        }
        done(std::move(secrets));
      },
      done);
}

}  // namespace hai
