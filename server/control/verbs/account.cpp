// Users, quotas and tokens: admins change them; everybody may make and revoke tokens of his own.

#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "common/account_name.h"
#include "server/control/verbs/tokens.h"

namespace hai {
namespace {

Status admin_only(const Actor& actor, std::string_view what) {
  if (actor.role == Role::admin) return ok();
  return permission_denied("{} is no admin: only admins change {}", actor.user, what);
}

// A person, or a group that somebody is in; "public" is everybody's.
Status check_owner(const ClusterState& state, const std::string& owner) {
  const auto is_of_group = [&](const auto& entry) {
    return std::ranges::find(entry.second.groups, owner) != entry.second.groups.end();
  };
  if (owner == "public" || state.find_user(owner) != nullptr ||
      std::ranges::any_of(state.users(), is_of_group)) {
    return ok();
  }
  return not_found("there is no user and no user group {}; `hai user set` makes one", owner);
}

// Quotas may be set before the first node has come.
Status check_node_group(const ClusterState& state, const std::string& group) {
  const auto& groups = state.node_census().groups();
  if (group == "*" || groups.empty() || groups.contains(group)) return ok();
  return not_found("there is no node group {}; there is: {}", group,
                   fmt::join(std::views::keys(groups), ", "));
}

constexpr size_t kSecretsMax = 100;  // of one user
constexpr int kTokensMax = 100;      // of one user: API tokens, those that are over included
constexpr int kJoinsMax = 100'000;   // with one token

Status check_join_token(const Actor& actor, const Token& token) {
  RETURN_IF_ERROR(admin_only(actor, "which machines may join"));
  if (!token.expires_at) return invalid_argument("a join token ends one day: say its ttl");
  if (token.uses_left < 1 || token.uses_left > kJoinsMax) {
    return invalid_argument("uses must be 1..{}, is {}", kJoinsMax, token.uses_left);
  }
  return ok();
}

// Sessions have a bound of their own (server/api/sign_in.h).
Status check_token_count(const ClusterState& state, const Token& token) {
  if (token.kind != TokenKind::api) return ok();
  const auto is_another = [&](const auto& entry) {
    return entry.second.kind == TokenKind::api && entry.second.user == token.user;
  };
  if (std::ranges::count_if(state.tokens(), is_another) < kTokensMax) return ok();
  return resource_exhausted(
      "{} has {} tokens, which is the most: end one that is not needed (hai token list, hai token "
      "revoke)",
      token.user, kTokensMax);
}

// Those that were begun with the token.
std::vector<std::string> sessions_of(const ClusterState& state, const Token& with) {
  std::vector<std::string> hashes;
  for (const auto& [hash, token] : state.tokens()) {
    if (token.kind != TokenKind::session || !token.label.starts_with(kSignedInWith)) continue;
    const std::string id = token.label.substr(kSignedInWith.size());
    if (!id.empty() && with.hash.starts_with(id) && hash != with.hash) hashes.push_back(hash);
  }
  return hashes;
}

std::vector<std::string> tokens_of(const ClusterState& state, const std::string& user) {
  std::vector<std::string> hashes;
  for (const auto& [hash, token] : state.tokens()) {
    if (token.user == user) hashes.push_back(hash);
  }
  return hashes;
}

std::vector<std::string> secrets_of(const ClusterState& state, const std::string& user) {
  std::vector<std::string> names;
  const auto& secrets = state.secrets();
  for (auto at = secrets.lower_bound({user, ""}); at != secrets.end() && at->first.first == user;
       ++at) {
    names.push_back(at->first.second);
  }
  return names;
}

std::vector<Quota> quotas_of(const ClusterState& state, const std::string& owner) {
  std::vector<Quota> found;
  for (const auto& [key, quota] : state.quotas()) {
    if (quota.owner == owner) found.push_back(quota);
  }
  return found;
}

}  // namespace

Result<CommandReply> decide(Decision& decision, const SetUser& command, const Actor& actor) {
  RETURN_IF_ERROR(admin_only(actor, "users"));
  RETURN_IF_ERROR(check_account_name("user name", command.user.name));
  for (const std::string& group : command.user.groups) {
    RETURN_IF_ERROR(check_account_name("user group", group));
  }
  if (command.user.name == actor.user &&
      (!command.user.active || command.user.role != Role::admin)) {
    return failed_precondition("{} can't take his own admin rights away", actor.user);
  }
  const User* known = decision.state().find_user(command.user.name);
  if (known == nullptr || !known->is_same_account(command.user)) {
    decision.emit(UserSet{command.user});
  }
  return CommandReply{{}, command.user.name, "set"};
}

Result<CommandReply> decide(Decision& decision, const RemoveUser& command, const Actor& actor) {
  RETURN_IF_ERROR(admin_only(actor, "users"));
  const ClusterState& state = decision.state();
  const std::string& name = command.name;
  if (state.find_user(name) == nullptr) return not_found("user {} does not exist", name);
  if (name == actor.user) return failed_precondition("{} can't remove himself", name);
  if (const int64_t jobs = state.unfinished_count(name); jobs > 0) {
    return failed_precondition(
        "{} has {} unfinished jobs: `hai user set {} --active no` keeps them from starting, `hai "
        "stop` ends them",
        name, jobs, name);
  }
  for (const std::string& hash : tokens_of(state, name)) decision.emit(TokenRevoked{hash});
  for (const std::string& secret : secrets_of(state, name)) {
    decision.emit(SecretRemoved{name, secret});
  }
  decision.emit(UserRemoved{name});
  if (check_owner(decision.state(), name).is_ok()) {  // a user group has the same name
    return CommandReply{{}, name, "removed; its quotas stay, since a user group has the same name"};
  }
  for (const Quota& quota : quotas_of(decision.state(), name)) decision.emit(QuotaRemoved{quota});
  return CommandReply{{}, name, "removed"};
}

Result<CommandReply> decide(Decision& decision, const SetQuota& command, const Actor& actor) {
  RETURN_IF_ERROR(admin_only(actor, "quotas"));
  const Quota& quota = command.quota;
  RETURN_IF_ERROR(check_account_name("quota owner", quota.owner));
  if (quota.group != "*") RETURN_IF_ERROR(check_account_name("quota group", quota.group));
  if (quota.priority == Priority::automatic)
    return invalid_argument("quota: auto is no level of its own");
  if (quota.nodes < 0 || quota.nodes > Quota::kUnlimited) {
    return invalid_argument("quota: nodes must be 0..{}, is {}", Quota::kUnlimited, quota.nodes);
  }
  const auto& quotas = decision.state().quotas();
  const auto known = quotas.find({quota.owner, quota.group, quota.priority});
  if (known == quotas.end()) {  // One that is there can be changed though its owner has left.
    RETURN_IF_ERROR(check_owner(decision.state(), quota.owner));
    RETURN_IF_ERROR(check_node_group(decision.state(), quota.group));
  }
  if (known == quotas.end() || !(known->second == quota)) decision.emit(QuotaSet{quota});
  return CommandReply{{}, quota.owner, "set"};
}

Result<CommandReply> decide(Decision& decision, const RemoveQuota& command, const Actor& actor) {
  RETURN_IF_ERROR(admin_only(actor, "quotas"));
  const Quota& quota = command.quota;
  auto it = decision.state().quotas().find({quota.owner, quota.group, quota.priority});
  if (it == decision.state().quotas().end()) {
    return not_found("quota of {} in {}/{} does not exist", quota.owner, quota.group,
                     to_string(quota.priority));
  }
  decision.emit(QuotaRemoved{it->second});
  return CommandReply{{}, quota.owner, "removed"};
}

Result<CommandReply> decide(Decision& decision, const AddToken& command, const Actor& actor) {
  if (command.token.user != actor.user) RETURN_IF_ERROR(admin_only(actor, "other users' tokens"));
  const User* user = decision.state().find_user(command.token.user);
  if (user == nullptr) return not_found("user {} does not exist", command.token.user);
  if (command.token.hash.size() != 64) return invalid_argument("token: not a SHA-256 hash");
  Token token = command.token;
  token.created_at = decision.now();
  if (token.is_over(token.created_at)) return invalid_argument("token: it would be over at once");
  if (token.scope > actor.scope) {
    return permission_denied("a token of scope {} makes none of scope {}", to_string(actor.scope),
                             to_string(token.scope));
  }
  if (token.kind == TokenKind::join) RETURN_IF_ERROR(check_join_token(actor, token));
  if (decision.state().find_token(token.hash) == nullptr) {
    RETURN_IF_ERROR(check_token_count(decision.state(), token));
    decision.emit(TokenSet{token});
  }
  return CommandReply{{}, token.user, "token added"};
}

Result<CommandReply> decide(Decision& decision, const RevokeToken& command, const Actor& actor) {
  const Token* token = decision.state().find_token(command.hash);
  if (token == nullptr) return not_found("the token does not exist");
  if (token->user != actor.user || token->kind == TokenKind::join) {
    RETURN_IF_ERROR(admin_only(actor, "other users' tokens"));
  }
  std::string user = token->user;
  const std::vector<std::string> sessions = sessions_of(decision.state(), *token);
  decision.emit(TokenRevoked{command.hash});
  for (const std::string& session : sessions) decision.emit(TokenRevoked{session});
  return CommandReply{{}, user, "token revoked"};
}

Result<CommandReply> decide(Decision& decision, const NoteTokenUses& command, const Actor& actor) {
  RETURN_IF_ERROR(admin_only(actor, "when tokens were used"));
  TokensUsed event;
  for (const auto& [hash, at] : command.used) {
    if (decision.state().find_token(hash) != nullptr) event.used.emplace(hash, at);
  }
  if (!event.used.empty()) decision.emit(std::move(event));
  std::vector<std::string> over;
  for (const auto& [hash, token] : decision.state().tokens()) {
    if (token.is_over(decision.now() - kOverTokensKept)) over.push_back(hash);
  }
  for (const std::string& hash : over) decision.emit(TokenRevoked{hash});
  return CommandReply{};
}

Result<CommandReply> decide(Decision& decision, const SetSecret& command, const Actor& actor) {
  Secret secret = command.secret;
  RETURN_IF_ERROR(check_account_name("secret name", secret.name));
  if (secret.user != actor.user) {
    return permission_denied("{} sets no secrets of {}", actor.user, secret.user);
  }
  const ClusterState& state = decision.state();
  const Secret* known = state.find_secret(secret.user, secret.name);
  if (known == nullptr && secrets_of(state, secret.user).size() >= kSecretsMax) {
    return resource_exhausted("{} has {} secrets, which is the most", secret.user, kSecretsMax);
  }
  secret.version = known == nullptr ? 1 : known->version + 1;
  secret.set_at = decision.now();
  decision.emit(SecretSet{std::move(secret)});
  return CommandReply{{}, command.secret.name, "set"};
}

Result<CommandReply> decide(Decision& decision, const RemoveSecret& command, const Actor& actor) {
  if (command.user != actor.user) RETURN_IF_ERROR(admin_only(actor, "other users' secrets"));
  if (decision.state().find_secret(command.user, command.name) == nullptr) {
    return not_found("{} has no secret named {}", command.user, command.name);
  }
  decision.emit(SecretRemoved{command.user, command.name});
  return CommandReply{{}, command.name, "removed"};
}

Result<CommandReply> decide(Decision& decision, const IssueNodeIdentity& command,
                            const Actor& actor) {
  RETURN_IF_ERROR(admin_only(actor, "identities of nodes"));
  NodeIdentity identity = command.identity;
  const NodeIdentity* known = decision.state().find_identity(identity.node);
  if (known != nullptr) identity.revoked_at = known->revoked_at;
  if (!command.join_token.empty()) {
    const Token* found = decision.state().find_token(command.join_token);
    if (found == nullptr || found->kind != TokenKind::join || found->is_over(decision.now())) {
      return unauthenticated("the join token is not known here, is over or was revoked");
    }
    // Of one node it takes one use: the answer that it asks for again may have been lost.
    if (known == nullptr || known->joined_with != identity.joined_with) {
      if (found->uses_left <= 0) return unauthenticated("the join token was used up");
      Token token = *found;
      --token.uses_left;
      decision.emit(TokenSet{std::move(token)});
    }
  } else if (known != nullptr) {
    identity.joined_with = known->joined_with;
  }
  decision.emit(NodeIdentitySet{std::move(identity), ""});
  return CommandReply{{}, command.identity.node, "issued"};
}

NodeIdentity revoked(NodeIdentity identity, UnixTime now) {
  identity.revoked_at = std::max({now, identity.issued_at, identity.revoked_at.value_or(now)});
  return identity;
}

Result<CommandReply> decide(Decision& decision, const RevokeNodeIdentity& command,
                            const Actor& actor) {
  RETURN_IF_ERROR(admin_only(actor, "identities of nodes"));
  const NodeIdentity* known = decision.state().find_identity(command.node);
  if (known == nullptr && decision.state().find_node(command.node) == nullptr) {
    return not_found("there is no node {}, and none has joined under that name", command.node);
  }
  NodeIdentity identity = known == nullptr ? NodeIdentity{.node = command.node} : *known;
  decision.emit(NodeIdentitySet{revoked(std::move(identity), decision.now()), command.reason});
  return CommandReply{{}, command.node, "revoked"};
}

}  // namespace hai
