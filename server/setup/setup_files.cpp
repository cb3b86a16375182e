#include "server/setup/setup_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/tls/authority_folder.h"
#include "common/tls/replace_file.h"
#include "server/auth/token.h"
#include "server/store/conninfo.h"

namespace hai {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIdFile = "/cluster.id";
constexpr size_t kIdDigits = 32;

Status make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return ok();
  return unavailable("cannot make the folder {}: {}", path, error.message());
}

Status write_missing(const std::string& path, const std::string& text, mode_t mode,
                     std::vector<std::string>& said) {
  if (is_file(path)) return ok();
  RETURN_IF_ERROR(make_folder(fs::path(path).parent_path().string()));
  RETURN_IF_ERROR(replace_file(path, text, mode));
  said.push_back(path + " written");
  return ok();
}

// Certificates are for everybody; whatever else a bundle has is secret.
mode_t mode_of(const std::string& path) { return path.ends_with(".crt") ? 0644 : 0600; }

bool is_own_authority(const SetupPlan& plan) {
  return plan.config.authority == plan.folder + "/ca";
}

Status make_authority_files(const SetupPlan& plan, std::vector<std::string>& said) {
  const AuthorityFolder folder(plan.config.authority);
  if (!plan.is_founding || !is_own_authority(plan) || is_file(folder.certificate())) return ok();
  RETURN_IF_ERROR(folder.make());
  if (is_file(folder.key())) {
    // Of a setup that was cut off between the two files. Nothing was issued with it.
    const std::string aside = folder.key() + ".unused";
    if (std::rename(folder.key().c_str(), aside.c_str()) != 0) {
      return unavailable("cannot move {} away: {}", folder.key(), std::strerror(errno));
    }
  }
  const Result<KeyAndCertificate> made = make_authority();
  RETURN_IF_ERROR(made.status());
  RETURN_IF_ERROR(folder.write_authority(made.value()));
  said.push_back(folder.certificate() + " written: the CA of the cluster");
  return ok();
}

bool is_issued_here(const SetupPlan& plan) {
  return plan.config.tls.certificate == plan.folder + "/server.crt" &&
         plan.config.tls.key == plan.folder + "/server.key" && !plan.config.authority.empty();
}

Status make_server_certificate(const SetupPlan& plan, std::vector<std::string>& said) {
  const TlsFiles& files = plan.config.tls;
  if (!is_issued_here(plan) || is_file(files.certificate)) return ok();
  // A key without its certificate is of a setup that was cut off; nobody has seen either.
  ::unlink(files.key.c_str());
  const Result<KeyAndCertificate> authority = AuthorityFolder(plan.config.authority).read();
  RETURN_IF_ERROR(authority.status());
  const Result<KeyAndCertificate> made = issue_for_server(authority.value(), plan.names);
  RETURN_IF_ERROR(made.status());
  RETURN_IF_ERROR(AuthorityFolder(plan.folder).write_pair("server", made.value()));
  said.push_back(files.certificate + " written");
  return ok();
}

Status hand_over(const std::string& path, const UnixUser& user) {
  if (!is_file(path) || ::geteuid() != 0) return ok();
  if (::chown(path.c_str(), user.uid, user.gid) == 0) return ok();
  return unavailable("cannot give {} to {}: {}", path, user.name, std::strerror(errno));
}

}  // namespace

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

Result<std::string> read_whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return not_found("cannot read {}: {}", path, std::strerror(errno));
  return text.str();
}

Result<std::string> read_cluster_id(const std::string& folder) {
  const Result<std::string> text = read_whole_file(folder + kIdFile);
  if (!text.is_ok()) {
    return not_found("{} has no cluster.id: run `hai-server setup` there first", folder);
  }
  const std::string id = text.value().substr(0, text.value().find('\n'));
  const bool is_good =
      id.size() == kIdDigits && id.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (is_good) return id;
  return invalid_argument("{}{}: must be {} hexadecimal digits", folder, kIdFile, kIdDigits);
}

std::string make_cluster_id() { return hash_token(make_token_secret()).substr(0, kIdDigits); }

Status check_files(const SetupPlan& plan, bool is_marked) {
  for (const auto& [path, content] : plan.files) {
    if (!is_file(path)) continue;
    const Result<std::string> there = read_whole_file(path);
    RETURN_IF_ERROR(there.status());
    if (there.value() == content) continue;
    return already_exists("{} is there already and is another one: move it away first", path);
  }
  if (!plan.is_founding) return ok();
  if (!is_own_authority(plan)) {
    const Result<KeyAndCertificate> site = AuthorityFolder(plan.config.authority).read();
    RETURN_IF_ERROR(site.status());
    RETURN_IF_ERROR(own_certificate(site.value()).status());
  }
  if (!is_issued_here(plan)) RETURN_IF_ERROR(read_tls_files(plan.config.tls).status());
  if (!is_marked) return ok();
  for (const std::string& file :
       {plan.config.authority + "/ca.crt", plan.config.authority + "/ca.key",
        plan.config.secrets_key_file}) {
    if (is_file(file)) continue;
    return failed_precondition(
        "{} is not there, and the cluster has one: put it back from your copy; another one would "
        "shut out its nodes and lose its secrets",
        file);
  }
  return ok();
}

Status make_files(const SetupPlan& plan, std::vector<std::string>& said) {
  RETURN_IF_ERROR(make_folder(plan.folder));
  RETURN_IF_ERROR(write_missing(plan.folder + kIdFile, plan.mark.id + "\n", 0644, said));
  for (const auto& [path, content] : plan.files) {
    RETURN_IF_ERROR(write_missing(path, content, mode_of(path), said));
  }
  RETURN_IF_ERROR(make_authority_files(plan, said));
  RETURN_IF_ERROR(make_server_certificate(plan, said));
  if (!plan.is_founding) return ok();
  // 64 hexadecimal digits: as good a key as bytes, and one that people can copy.
  RETURN_IF_ERROR(write_missing(plan.config.secrets_key_file,
                                make_token_secret().substr(std::strlen("hai_")) + "\n", 0600,
                                said));
  return write_missing(plan.config.admin_token_file, make_token_secret() + "\n", 0600, said);
}

Status write_config(const SetupPlan& plan, std::vector<std::string>& said) {
  return plan.text.empty() ? ok() : write_missing(plan.path, plan.text, 0644, said);
}

Status hand_over_files(const SetupPlan& plan) {
  const ServerConfig& config = plan.config;
  std::vector<std::string> secret{config.tls.key,
                                  config.secrets_key_file,
                                  config.admin_token_file,
                                  config.agent_token_file,
                                  config.oidc.client_secret_file,
                                  config.authority + "/ca.key",
                                  config.authority + "/ca-old.key"};
  secret.insert(secret.end(), config.secrets_old_key_files.begin(),
                config.secrets_old_key_files.end());
  Result<std::map<std::string, std::string>> words = parse_conninfo(config.conninfo);
  if (words.is_ok()) secret.push_back(words.value()["passfile"]);
  for (const std::string& path : secret) {
    // The site's own files elsewhere are the site's to give.
    if (path.starts_with(plan.folder + "/")) RETURN_IF_ERROR(hand_over(path, plan.user));
  }
  return ok();
}

}  // namespace hai
