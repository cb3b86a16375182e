#pragma once
// The running server: adapters around one controller on one loop. Made, run once, destroyed.

#include <memory>
#include <string>

#include "common/status.h"
#include "server/server_config.h"

namespace hai {

// Whether bootstrap.admin_token_file names a file that is not there, as people delete it once they
// have tokens of their own: then nobody is made administrator.
bool lacks_admin_token(const ServerConfig& config);

class ServerApp {
 public:
  // Reads the token files, migrates if asked, binds both addresses.
  // `path`: of the config, which SIGHUP reads again.
  static Result<std::unique_ptr<ServerApp>> make(const ServerConfig& config, std::string path);
  ~ServerApp();

  // Serves until SIGTERM or SIGINT, then gives leadership up and ends all calls. A second signal
  // ends it at once. SIGHUP opens the log file again and takes what may change of a changed config
  // (kReloadedServerKeys); one with an error changes nothing.
  void run();

 private:
  struct Impl;
  explicit ServerApp(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hai
