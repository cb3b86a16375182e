#include "server/serving_files.h"

#include "common/log.h"
#include "common/tls/tls_files.h"

namespace hai {

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
  const Status files = read_tls_files(config.tls).status();
  return files.is_ok() ? files : invalid_argument("tls: {}", files.message());
}

}  // namespace hai
