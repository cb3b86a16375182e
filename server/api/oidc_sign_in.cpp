#include "server/api/oidc_sign_in.h"

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>

#include "common/host_port.h"
#include "common/log.h"
#include "server/api/question_worker.h"
#include "server/auth/oidc_user.h"
#include "server/auth/token.h"

namespace hai {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kBrowser = "browser";  // what tickets are for
constexpr std::string_view kDevice = "device";
constexpr size_t kCodeMax = 4'096;
// Between two polls of one device; people's programs ask every five seconds, as providers want it.
constexpr Duration kPollInterval = 1s;
constexpr Duration kSlower = 5s;  // RFC 8628, 3.5
constexpr const char* kNotAgreed = "the person has not agreed yet";
constexpr const char* kBeginAgain =
    "this sign-in was not begun here, or it took too long: begin again";

UnixTime system_now() {
  return unix_micros(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

}  // namespace

OidcSignIn::OidcSignIn(Loop& loop, OidcConfig config, std::string client_secret,
                       std::unique_ptr<Fetcher> fetcher)
    : loop_(loop),
      config_(std::move(config)),
      fetcher_(fetcher ? std::move(fetcher) : std::make_unique<CurlFetcher>(config_.ca)),
      provider_(config_, std::move(client_secret), *fetcher_, system_now),
      worker_(std::make_unique<QuestionWorker>()) {}

OidcSignIn::~OidcSignIn() {
  fetcher_->stop();
  worker_.reset();
}

void OidcSignIn::set_rules(const OidcConfig& config) {
  config_.name = config.name;
  config_.redirect_url = config.redirect_url;
  config_.admin_groups = config.admin_groups;
  config_.operator_groups = config.operator_groups;
  config_.create_users = config.create_users;
}

bool OidcSignIn::is_own_path(std::string_view next) {
  if (!next.starts_with('/') || next.starts_with("//") || next.size() > kNextMax) return false;
  // Browsers take a backslash for a slash, and drop what is no character of an address.
  return next.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
             "-._~/?&=%+,:;@!$'()*[]") == std::string_view::npos;
}

// The answer comes back to the loop. Who has a few questions under way waits for those first.
template <typename T>
void OidcSignIn::ask(const std::string& address, std::function<Result<T>()> question,
                     Done<T> done) {
  const std::string machine = machine_of(address);
  auto answer = [this, machine, done](Result<T> result) {
    if (const auto found = under_way_.find(machine); --found->second == 0) under_way_.erase(found);
    done(std::move(result));
  };
  const auto refuse = [this, done](Status status) {
    loop_.post([done, status = std::move(status)] { done(status); });
  };
  const int most = address.empty() ? kOfDevicesMax : kOfAnAddressMax;
  if (const auto found = under_way_.find(machine);
      found != under_way_.end() && found->second >= most) {
    return refuse(
        resource_exhausted("{} sign-ins are under way from there: try again in a moment", most));
  }
  const bool is_taken = worker_->post([this, question = std::move(question), answer] {
    auto result = std::make_shared<Result<T>>(question());
    loop_.post([answer, result] { answer(std::move(*result)); });
  });
  if (!is_taken) {
    return refuse(resource_exhausted("too many people sign in at once: try again in a moment"));
  }
  ++under_way_[machine];
}

void OidcSignIn::begin(const std::string& address, const std::string& next,
                       const std::string& redirect_url, Done<Begun> done) {
  if (!is_own_path(next)) return done(invalid_argument("next must be a path on this server"));
  const AuthorizationRequest request{.redirect_url = redirect_url,
                                     .state = random_word(),
                                     .nonce = random_word(),
                                     .verifier = random_word()};
  ask<std::string>(
      address, [this, request] { return provider_.authorization_url(request); },
      [this, request, next, done = std::move(done)](Result<std::string> location) {
        if (!location.is_ok()) return done(location.status());
        const Json kept = {{"state", request.state},
                           {"nonce", request.nonce},
                           {"verifier", request.verifier},
                           {"redirect_url", request.redirect_url},
                           {"next", next}};
        done(Begun{.location = std::move(location).value(),
                   .ticket = seal_.seal(kBrowser, kept.dump(), loop_.wall_now() + kTicketLife)});
      });
}

void OidcSignIn::finish(const std::string& address, const Return& back, Done<Finished> done) {
  const std::optional<std::string> opened = seal_.open(kBrowser, back.ticket, loop_.wall_now());
  if (!opened) return done(unauthenticated("{}", kBeginAgain));
  const Json kept = Json::parse(*opened);
  if (!equal_secrets(kept["state"].get<std::string>(), back.state)) {
    return done(unauthenticated("{}", kBeginAgain));
  }
  if (!back.issuer.empty() && back.issuer != config_.issuer) {
    return done(unauthenticated("another identity provider answers than the one that was asked"));
  }
  if (back.code.empty() || back.code.size() > kCodeMax) {
    return done(invalid_argument("code: is missing or too long"));
  }
  const CodeExchange exchange{.code = back.code,
                              .redirect_url = kept["redirect_url"],
                              .nonce = kept["nonce"],
                              .verifier = kept["verifier"]};
  ask<Claims>(
      address, [this, exchange] { return provider_.exchange(exchange); },
      [this, next = kept["next"].get<std::string>(),
       done = std::move(done)](Result<Claims> claims) {
        if (!claims.is_ok()) return done(claims.status());
        Result<Person> person = person_of(claims.value());
        if (!person.is_ok()) return done(person.status());
        done(Finished{.person = std::move(person).value(), .next = next});
      });
}

void OidcSignIn::begin_device(Done<Device> done) {
  ask<DeviceGrant>(
      "", [this] { return provider_.begin_device(); },
      [this, done = std::move(done)](Result<DeviceGrant> grant) {
        if (!grant.is_ok()) return done(grant.status());
        const DeviceGrant& given = grant.value();
        done(Device{.device_code = seal_.seal(kDevice, given.device_code, given.ends),
                    .user_code = given.user_code,
                    .verification_uri = given.verification_uri,
                    .interval_seconds = given.interval_seconds,
                    .expires_at = given.ends});
      });
}

OidcSignIn::Poll& OidcSignIn::poll_of(const std::string& device_code) {
  return polls_[std::hash<std::string>{}(device_code) % kPolls];
}

void OidcSignIn::finish_device(const std::string& device_code, Done<Person> done) {
  const UnixTime now = loop_.wall_now();
  const auto refuse = [&](Status status) {
    loop_.post([done, status = std::move(status)] { done(status); });
  };
  const std::optional<std::string> code = seal_.open(kDevice, device_code, now);
  if (!code) return refuse(unauthenticated("{}", kBeginAgain));
  Poll& poll = poll_of(device_code);
  if (poll.device_code != device_code) {
    poll = {.device_code = device_code, .not_before = now, .interval = kPollInterval};
  }
  if (now < poll.not_before) return refuse(unavailable("{}", kNotAgreed));
  poll.not_before = now + poll.interval;
  ask<Claims>(
      "", [this, code = *code] { return provider_.finish_device(code); },
      [this, device_code, done = std::move(done)](Result<Claims> claims) {
        if (claims.is_ok()) return done(person_of(claims.value()));
        if (claims.status().code() != Code::resource_exhausted) {
          return done(claims.status());
        }
        Poll& early = poll_of(device_code);
        if (early.device_code == device_code) {
          early.interval += kSlower;
          early.not_before = loop_.wall_now() + early.interval;
        }
        done(unavailable("{}", kNotAgreed));
      });
}

Result<Person> OidcSignIn::person_of(const Claims& claims) const {
  RETURN_IF_ERROR(check_user_name(claims, config_));
  log_info("oidc_sign_in", {{"user", claims.user}, {"subject", claims.subject}});
  return Person{.user = claims.user,
                .label = "signed in at " + config_.name,
                .account = [claims, config = config_](
                               User user) { return account_of(claims, config, std::move(user)); },
                .may_be_new = config_.create_users};
}

}  // namespace hai
