#include "server/serving_files.h"

#include "common/log.h"
#include "common/tls/authority_folder.h"
#include "common/tls/peer_keys.h"
#include "common/tls/tls_files.h"

namespace hai {
namespace {

// systemd does not start a server again after an error of its config (docs/operations/units.md). A
// clock that is set later and a pair that is just being replaced are none.
Status said_of(const char* key, const Status& status) {
  if (status.is_ok()) return status;
  const bool is_config =
      status.code() == Code::not_found || status.code() == Code::permission_denied;
  return {is_config ? Code::invalid_argument : status.code(),
          fmt::format("{}: {}", key, status.message())};
}

}  // namespace

Result<WebFiles> load_dashboard(const ServerConfig& config) {
  if (config.web_root == "none") return WebFiles();
  const std::string folder = config.web_root.empty() ? find_web_folder() : config.web_root;
  if (folder.empty()) {
    log_warning("dashboard_missing", {{"web_root", "../share/hai/web of the program"}});
    return WebFiles();
  }
  Result<WebFiles> loaded = WebFiles::load(folder);
  if (!loaded.is_ok()) return invalid_argument("web_root: {}", loaded.status().message());
  return loaded;
}

Status check_tls(const ServerConfig& config) {
  if (is_readable_by_others(config)) {
    log_warning("not_encrypted", {{"reason",
                                   "no tls.certificate in the config: tokens and jobs "
                                   "can be read on the way"},
                                  {"grpc", config.grpc_address},
                                  {"http", config.http_address}});
  }
  return said_of("tls", read_tls_files(config.tls).status());
}

Result<std::string> read_peer_secret(const ServerConfig& config) {
  if (config.authority.empty()) return std::string();
  const Result<KeyAndCertificate> authority = AuthorityFolder(config.authority).read();
  if (!authority.is_ok()) return said_of("tls.authority", authority.status());
  return peer_secret_of(authority.value().key);
}

}  // namespace hai
