#include "server/api/sign_in.h"

#include <algorithm>
#include <utility>

#include "server/api/caller_board.h"
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
  User user = known == nullptr ? User{.name = person.user} : *known;
  if (person.role) user.role = *person.role;
  if (person.groups) user.groups = *person.groups;
  if (known != nullptr && user == *known) return std::optional<User>();
  return std::optional(std::move(user));
}

// The sessions of the user that end so that there is place for another one.
std::vector<std::string> oldest_sessions(const ClusterState& state, const std::string& user) {
  std::vector<const Token*> sessions;
  for (const auto& [hash, token] : state.tokens()) {
    if (token.user == user && token.kind == TokenKind::session) sessions.push_back(&token);
  }
  std::ranges::sort(sessions, {}, [](const Token* token) { return token->created_at; });
  std::vector<std::string> hashes;
  for (size_t i = 0; i + SignInDesk::kSessionsMax <= sessions.size(); ++i) {
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

void SignInDesk::open(Person person, Done<Session> done) {
  parts_.controller.read(
      kServer,
      [this, person = std::move(person), done](const Controller::ReadContext& context,
                                               const Actor&) {
        const User* known = context.state.find_user(person.user);
        Result<std::optional<User>> changed = changed_user(known, person);
        if (!changed.is_ok()) return done(changed.status());
        if (known != nullptr && !known->active) {
          return done(permission_denied("user {} is not active", person.user));
        }
        for (const std::string& hash : oldest_sessions(context.state, person.user)) {
          parts_.controller.submit(kServer, RevokeToken{hash}, [](const Result<CommandReply>&) {});
        }
        if (!changed.value()) return add_session(person, done);
        parts_.controller.submit(kServer, SetUser{*changed.value()},
                                 [this, person, done](Result<CommandReply> set) {
                                   if (!set.is_ok()) return done(set.status());
                                   add_session(person, done);
                                 });
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
