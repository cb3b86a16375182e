#pragma once
// Sessions of people: who proves who he is, by whatever way, gets a token that ends soon. The ways
// come in by interfaces, so that this needs to know neither munge nor identity providers. On the
// loop's thread.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/loop.h"
#include "server/api/byte_share.h"
#include "server/api/source.h"
#include "server/control/command.h"

namespace hai {

class AccountChanges;
class CallerBoard;
class Controller;

// Somebody who has proved who he is.
struct Person {
  std::string user;
  std::string label;  // of the session: how he did it
  TokenScope scope = TokenScope::admin;
  std::optional<UnixTime> expires_at = {};  // of what he proved it with: the session ends no later
  // His account as the one who vouches for him wants it, made of the one here; null = as it is.
  std::function<User(User)> account = nullptr;
  bool may_be_new = false;  // then he becomes a user here
};

// An identity provider, such as one that speaks OpenID Connect.
class SignInProvider {
 public:
  struct Device {
    std::string device_code;
    std::string user_code;
    std::string verification_uri;
    int interval_seconds = 5;
    UnixTime expires_at{};
  };

  virtual ~SignInProvider() = default;
  virtual std::string name() const = 0;  // for people: "Example University"
  // The device flow: its beginning, and what became of it; unavailable until the person has agreed.
  // Both answer on the loop's thread, never from inside the call.
  virtual void begin_device(Done<Device> done) = 0;
  virtual void finish_device(const std::string& device_code, Done<Person> done) = 0;
};

// Asks munged whose credential it is; answers with the name of a Unix user, on the loop's thread.
using DecodeMunge = std::function<void(std::string credential, Done<std::string>)>;

class SignInDesk {
 public:
  static constexpr Duration kSessionMax = 12h;
  // Of one user: then the oldest of those ends that may do the least, and no more than the new one.
  static constexpr size_t kSessionsMax = 50;
  // Of one user, by each scope: what each stores is kept for ever.
  static constexpr int64_t kSignInsPerMinute = 60;

  struct Rules {
    Duration token_ttl = 24h * 90;  // of tokens that are made without one
    Duration token_ttl_max = 24h * 365;
    bool munge_creates_users = false;
  };
  struct Parts {
    Loop& loop;
    Controller& controller;
    const CallerBoard& callers;
    AccountChanges& accounts;
    Rules rules = {};
    DecodeMunge munge = nullptr;         // null = not configured
    SignInProvider* provider = nullptr;  // null = not configured
  };
  struct Session {
    std::string user;
    Role role = Role::user;
    UnixTime expires_at{};
    std::string secret;  // of its token; "" = of one that was there
  };

  explicit SignInDesk(Parts parts) : parts_(std::move(parts)) {}

  const Rules& rules() const { return parts_.rules; }
  void set_rules(const Rules& rules) { parts_.rules = rules; }
  SignInProvider* provider() const { return parts_.provider; }
  std::vector<std::string> methods() const;  // token, munge, oidc

  void with_token(const std::string& secret, Done<Session> done);
  void with_munge(const std::string& credential, Done<Session> done);
  void with_device(const std::string& device_code, Done<Session> done);
  // The session that the caller's token is.
  void resume(const Caller& caller, Done<Session> done);
  void end(const Caller& caller, Done<CommandReply> done);

  // A session for somebody who has proved who he is.
  void open(Person person, Done<Session> done);

 private:
  // Makes place for the session, then adds it.
  void admit(const Person& person, Done<Session> done);
  void add_session(const Person& person, Done<Session> done);

  Parts parts_;
  ByteShare shares_{kSignInsPerMinute, 1min};  // of sessions, not bytes
};

}  // namespace hai
