#pragma once
// Signing in at the site's identity provider: with a browser that is sent there and comes back, or
// by a code that a person types in on another device. On the loop's thread; what waits for the
// provider has a thread of its own, for which so many may wait, and of one address a few.
//
// Nothing is kept for who has begun: he gets it along, sealed, and brings it back. So strangers
// fill no table, and with this process all that was begun ends: after a failover people begin anew.

#include <array>
#include <map>
#include <memory>
#include <string>

#include "common/loop.h"
#include "server/api/sign_in.h"
#include "server/auth/fetch.h"
#include "server/auth/oidc_provider.h"
#include "server/auth/ticket.h"

namespace hai {

class QuestionWorker;

class OidcSignIn final : public SignInProvider {
 public:
  static constexpr Duration kTicketLife = 10min;
  // Requests to the provider that are under way at once: of one address, and of all devices, whose
  // addresses are not known here.
  static constexpr int kOfAnAddressMax = 4;
  static constexpr int kOfDevicesMax = 8;
  static constexpr size_t kNextMax = 1'024;

  // `fetcher`: nullptr = over the network.
  OidcSignIn(Loop& loop, OidcConfig config, std::string client_secret,
             std::unique_ptr<Fetcher> fetcher = nullptr);
  ~OidcSignIn() override;
  OidcSignIn(const OidcSignIn&) = delete;
  OidcSignIn& operator=(const OidcSignIn&) = delete;

  const OidcConfig& config() const { return config_; }
  // Takes what of a config does not concern the provider: the button's name, the way back, which
  // groups make whom, and whether people may be new. For those who come back from now on.
  void set_rules(const OidcConfig& config);

  // The browser goes to `location` and keeps `ticket`. `next`: where it goes in the end.
  struct Begun {
    std::string location;
    std::string ticket;
  };
  void begin(const std::string& address, const std::string& next, const std::string& redirect_url,
             Done<Begun> done);
  // It has come back with what the provider gave it.
  struct Return {
    std::string ticket;
    std::string state;
    std::string code;
    std::string issuer;  // "" = not told (RFC 9207)
  };
  struct Finished {
    Person person;
    std::string next;
  };
  void finish(const std::string& address, const Return& back, Done<Finished> done);

  std::string name() const override { return config_.name; }
  void begin_device(Done<Device> done) override;
  void finish_device(const std::string& device_code, Done<Person> done) override;

  // Is it a path on this very host, which a browser takes for nothing else?
  static bool is_own_path(std::string_view next);

 private:
  // When somebody may ask the provider again about a device. What does not fit is forgotten: then
  // the provider itself says that it was too soon.
  struct Poll {
    std::string device_code;
    UnixTime not_before{};
    Duration interval{};
  };
  static constexpr size_t kPolls = 1'024;

  // `address`: "" = not known.
  template <typename T>
  void ask(const std::string& address, std::function<Result<T>()> question, Done<T> done);
  Poll& poll_of(const std::string& device_code);
  Result<Person> person_of(const Claims& claims) const;

  Loop& loop_;
  OidcConfig config_;
  const TicketSeal seal_;
  std::map<std::string, int> under_way_;  // by machine_of()
  std::array<Poll, kPolls> polls_;
  const std::unique_ptr<Fetcher> fetcher_;
  OidcProvider provider_;                   // the worker's
  std::unique_ptr<QuestionWorker> worker_;  // last: it uses all above
};

}  // namespace hai
