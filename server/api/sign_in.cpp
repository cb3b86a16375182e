#include "server/api/sign_in.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "server/api/account_changes.h"
#include "server/api/audit_trail.h"
#include "server/api/caller_board.h"
#include "server/api/words.h"
#include "server/auth/token.h"
#include "server/control/engine/controller.h"
#include "server/control/verbs/tokens.h"

namespace hai {
namespace {

const Caller kServer{.is_server = true};

// The user as he is to be; nullopt = as he is.
Result<std::optional<User>> changed_user(const User* known, const Person& person) {
  if (known == nullptr && !person.may_be_new) {
    return permission_denied("{} is no user here: an administrator makes one (hai user set)",
                             person.user);
  }
  if (known != nullptr && !known->active) {
    return permission_denied("user {} is not active", person.user);
  }
  User user = known == nullptr ? User{.name = person.user} : *known;
  if (person.account) user = person.account(std::move(user));
  if (known != nullptr && user == *known) return std::optional<User>();
  return std::optional(std::move(user));
}

// The sessions of the user that end so that there is place for another one: those that are over,
// then of those that may do the least the oldest. None that may do more than the new one, or a
// token that only reads could end them all: resource_exhausted if there are no others.
Result<std::vector<std::string>> sessions_to_end(const ClusterState& state, const Person& person,
                                                 UnixTime now) {
  const User* user = state.find_user(person.user);
  const TokenScope most = widest_scope(user == nullptr ? Role::user : user->role);
  // What he may do by a token: nothing by one that is over.
  const auto power = [&](const Token& token) {
    return token.is_over(now) ? -1 : static_cast<int>(std::min(token.scope, most));
  };
  std::vector<const Token*> sessions;
  for (const auto& [hash, token] : state.tokens()) {
    if (token.user == person.user && token.kind == TokenKind::session) sessions.push_back(&token);
  }
  std::ranges::sort(sessions, {}, [&](const Token* token) {
    return std::pair(power(*token), token->created_at);
  });
  std::vector<std::string> hashes;
  for (size_t i = 0; i + SignInDesk::kSessionsMax <= sessions.size(); ++i) {
    if (power(*sessions[i]) > static_cast<int>(std::min(person.scope, most))) {
      return resource_exhausted(
          "{} has {} sessions, which is the most, and all of them may do more than this one: sign "
          "out of one (hai logout), or end one (hai token list, hai token revoke)",
          person.user, sessions.size());
    }
    hashes.push_back(sessions[i]->hash);
  }
  return hashes;
}

}  // namespace

std::vector<std::string> SignInDesk::methods() const {
  std::vector<std::string> methods = {"token"};
  if (parts_.munge) methods.emplace_back("munge");
  if (parts_.provider != nullptr) methods.emplace_back("oidc");
  return methods;
}

void SignInDesk::with_token(const std::string& secret, Done<Session> done) {
  const Caller caller{.token_hash = hash_token(secret)};
  if (Status status = parts_.callers.admit(caller); !status.is_ok()) return done(status);
  parts_.controller.read(
      caller,
      [this, caller, done](const Controller::ReadContext& context, const Actor&) {
        const Token token = *context.state.find_token(caller.token_hash);
        if (token.kind != TokenKind::api) {
          return done(unauthenticated("a session begins no other one: sign in anew"));
        }
        open({.user = token.user,
              .label = std::string(kSignedInWith) + token_id(token.hash),
              .scope = token.scope,
              .expires_at = token.expires_at},
             done);
      },
      done);
}

void SignInDesk::with_munge(const std::string& credential, Done<Session> done) {
  if (!parts_.munge) return done(failed_precondition("this server takes no munge credentials"));
  parts_.munge(credential, [this, done](Result<std::string> user) {
    if (!user.is_ok()) return done(user.status());
    open({.user = user.value(),
          .label = "signed in with munge",
          .may_be_new = parts_.rules.munge_creates_users},
         done);
  });
}

void SignInDesk::with_device(const std::string& device_code, Done<Session> done) {
  if (parts_.provider == nullptr) {
    return done(failed_precondition("this server knows no identity provider"));
  }
  parts_.provider->finish_device(device_code, [this, done](Result<Person> person) {
    if (!person.is_ok()) return done(person.status());
    open(std::move(person).value(), done);
  });
}

void SignInDesk::resume(const Caller& caller, Done<Session> done) {
  parts_.controller.read(
      caller,
      [caller, done](const Controller::ReadContext& context, const Actor& actor) {
        const Token* token = context.state.find_token(caller.token_hash);
        if (token == nullptr || token->kind != TokenKind::session) {
          return done(unauthenticated("say who you are: by a token, or by another way to sign in"));
        }
        done(Session{.user = actor.user,
                     .role = actor.role,
                     .expires_at = token->expires_at.value_or(UnixTime{})});
      },
      done);
}

void SignInDesk::end(const Caller& caller, Done<CommandReply> done) {
  parts_.controller.read(
      caller,
      [this, caller, done](const Controller::ReadContext& context, const Actor&) {
        const Token* token = context.state.find_token(caller.token_hash);
        if (token == nullptr || token->kind != TokenKind::session) {
          return done(
              failed_precondition("this is no session: a token is given up with hai token revoke"));
        }
        // One that may read only may leave, too.
        parts_.controller.submit(kServer, RevokeToken{token->hash}, done);
      },
      done);
}

// Only who changes by it waits for other changes of his account.
void SignInDesk::open(Person person, Done<Session> done) {
  parts_.controller.read(
      kServer,
      [this, person = std::move(person), done](const Controller::ReadContext& context,
                                               const Actor&) {
        const auto change = [person](const User* known) { return changed_user(known, person); };
        const Result<std::optional<User>> changed = change(context.state.find_user(person.user));
        if (!changed.is_ok()) return done(changed.status());
        // A token that may do little keeps nobody from signing in to do more.
        const std::string who = fmt::format("{} {}", to_string(person.scope), person.user);
        if (const std::optional<Duration> wait = shares_.take(who, 1, parts_.loop.wall_now())) {
          return done(resource_exhausted(
              "{} signs in more than {} times a minute: keep a session, or sign in again in {}",
              person.user, kSignInsPerMinute, format_duration(*wait)));
        }
        if (!changed.value()) return admit(person, done);
        parts_.accounts.run_by_server(kAccountOfSignInCall, person.user, change,
                                      [this, person, done](const Result<User>& user) {
                                        if (!user.is_ok()) return done(user.status());
                                        admit(person, done);
                                      });
      },
      done);
}

void SignInDesk::admit(const Person& person, Done<Session> done) {
  parts_.controller.read(
      kServer,
      [this, person, done](const Controller::ReadContext& context, const Actor&) {
        const Result<std::vector<std::string>> over =
            sessions_to_end(context.state, person, parts_.loop.wall_now());
        if (!over.is_ok()) return done(over.status());
        for (const std::string& hash : over.value()) {
          parts_.controller.submit(kServer, RevokeToken{hash}, [](const Result<CommandReply>&) {});
        }
        add_session(person, done);
      },
      done);
}

void SignInDesk::add_session(const Person& person, Done<Session> done) {
  const std::string secret = make_token_secret();
  const UnixTime now = parts_.loop.wall_now();
  const UnixTime end = now + kSessionMax;
  const Token token{.hash = hash_token(secret),
                    .user = person.user,
                    .label = person.label,
                    .created_at = now,
                    .kind = TokenKind::session,
                    .scope = person.scope,
                    .expires_at = std::min(end, person.expires_at.value_or(end))};
  parts_.controller.submit(
      kServer, AddToken{token}, [this, token, secret, done](Result<CommandReply> added) {
        if (!added.is_ok()) return done(added.status());
        resume({.token_hash = token.hash}, [secret, done](Result<Session> session) {
          if (session.is_ok()) session.value().secret = secret;
          done(std::move(session));
        });
      });
}

}  // namespace hai
