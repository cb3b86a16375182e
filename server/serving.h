#pragma once
// Everything of a server but its loop and its store: the controller and the interfaces around it.
// Lives on the loop's thread. Production gives it PostgreSQL (server_app.cpp), tests a store in
// memory.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/hour_store.h"
#include "common/loop.h"
#include "common/server_store.h"
#include "common/status.h"
#include "server/auth/seal.h"
#include "server/control/audit_port.h"
#include "server/control/engine/controller.h"
#include "server/control/history_port.h"
#include "server/control/sample_port.h"
#include "server/server_config.h"

namespace hai {

class HttpRoutes;
class Operations;
struct HttpLimits;

struct ServingSecrets {
  std::string agent_token;
  std::optional<Sealer> sealer;    // of users' secrets
  std::string admin_token_hash;    // "" = no bootstrap token
  std::string oidc_client_secret;  // "" = a public client
};

// How many entries of the audit log each place of its export lacks.
using AuditBacklog = std::function<std::map<std::string, int64_t>()>;

class Serving {
 public:
  // `history`, `samples`, `audit`, `audit_backlog`, `hours` and `servers` may be null.
  Serving(Loop& loop, Store& store, History* history, SampleStore* samples,
          const ServerConfig& config, ServingSecrets secrets, AuditLog* audit = nullptr,
          AuditBacklog audit_backlog = nullptr, HourStore* hours = nullptr,
          ServerStore* servers = nullptr);
  ~Serving();  // after stop(), or of one that never listened
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  // Reads the files that listening needs and warns of what is unsafe: once, however often listening
  // is tried.
  Status prepare();
  // Binds both addresses. An error leaves nothing that has to be stopped.
  Status listen();
  void start();
  // Takes what of a config that has been read anew may change while it serves
  // (kReloadedServerKeys).
  void reload(const ServerConfig& config);
  // Gives leadership up, ends all calls and connections; then `stopped`. The loop must run until
  // then.
  void stop(std::function<void()> stopped);

  int grpc_port() const;
  int http_port() const;
  Controller& controller();
  int64_t calls_under_way() const;  // of people, without an answer yet; any thread
  // What is behind the ports, for who asks without one (tests/fuzz).
  Operations& operations();
  const HttpRoutes& routes();
  HttpLimits http_limits();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hai
