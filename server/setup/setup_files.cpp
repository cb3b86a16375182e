#include "server/setup/setup_files.h"

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/tls/authority_folder.h"
#include "common/tls/certificate.h"
#include "common/tls/replace_file.h"
#include "common/whole_file.h"
#include "server/auth/token.h"
#include "server/store/conninfo.h"

namespace hai {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIdFile = "/cluster.id";
constexpr const char* kUnfinishedFile = "/setup.unfinished";
constexpr size_t kIdDigits = 32;

// The outermost first.
std::vector<std::string> missing_folders(fs::path path) {
  std::vector<std::string> missing;
  for (; !path.empty() && !is_file(path.string()); path = path.parent_path()) {
    missing.insert(missing.begin(), path.string());
  }
  return missing;
}

Status make_folder(const std::string& path) {
  std::error_code error;
  for (const std::string& folder : missing_folders(path)) {
    fs::create_directory(folder, error);
    // Whatever the umask: the server's user has to pass.
    if (!error) fs::permissions(folder, fs::perms(0755), error);
    if (error) return unavailable("cannot make the folder {}: {}", folder, error.message());
  }
  return ok();
}

Status write_missing(const std::string& path, const std::string& text, mode_t mode,
                     std::vector<std::string>& said) {
  if (is_file(path)) return ok();
  RETURN_IF_ERROR(make_folder(fs::path(path).parent_path().string()));
  RETURN_IF_ERROR(replace_file(path, text, mode));
  said.push_back(path + " written");
  return ok();
}

// Of a setup that was cut off, or of a person: nothing is ever written over.
Status set_aside(const std::string& path) {
  if (!is_file(path)) return ok();
  const std::string aside = path + ".unused";
  if (is_file(aside)) {
    return already_exists("{} and {} are there and used by nothing here: move them away", path,
                          aside);
  }
  if (std::rename(path.c_str(), aside.c_str()) == 0) return ok();
  return unavailable("cannot move {} away: {}", path, std::strerror(errno));
}

bool is_inside(const SetupPlan& plan, const std::string& path) {
  return path.starts_with(plan.folder + "/");
}

std::vector<std::string> secret_files(const ServerConfig& config) {
  std::vector<std::string> files{config.tls.key,
                                 config.secrets_key_file,
                                 config.admin_token_file,
                                 config.agent_token_file,
                                 config.oidc.client_secret_file,
                                 config.authority + "/ca.key",
                                 config.authority + "/ca-old.key"};
  files.insert(files.end(), config.secrets_old_key_files.begin(),
               config.secrets_old_key_files.end());
  files.push_back(passfile_of(config.conninfo));
  return files;
}

// Whatever they are called.
std::vector<std::string> public_files(const SetupPlan& plan) {
  const ServerConfig& config = plan.config;
  return {config.authority + "/ca.crt",
          config.authority + "/ca-old.crt",
          config.tls.ca,
          config.tls.certificate,
          config.oidc.ca,
          root_certificate_of(config.conninfo),
          plan.folder + kIdFile,
          plan.path};
}

// Certificates are for everybody; whatever else a bundle has is secret.
mode_t mode_of(const SetupPlan& plan, const std::string& path) {
  if (std::ranges::count(secret_files(plan.config), path) > 0) return 0600;
  const bool is_public = path.ends_with(".crt") || std::ranges::count(public_files(plan), path) > 0;
  return is_public ? 0644 : 0600;
}

bool is_own_authority(const SetupPlan& plan) {
  return plan.config.authority == plan.folder + "/ca";
}

Status make_authority_files(const SetupPlan& plan, std::vector<std::string>& said) {
  const AuthorityFolder folder(plan.config.authority);
  if (!plan.is_founding || !is_own_authority(plan) || is_file(folder.certificate())) return ok();
  RETURN_IF_ERROR(folder.make());
  RETURN_IF_ERROR(set_aside(folder.key()));  // cut off between the two: nothing was issued with it
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
  RETURN_IF_ERROR(set_aside(files.key));
  const Result<KeyAndCertificate> authority = AuthorityFolder(plan.config.authority).read();
  RETURN_IF_ERROR(authority.status());
  const Result<KeyAndCertificate> made = issue_for_server(authority.value(), plan.names);
  RETURN_IF_ERROR(made.status());
  RETURN_IF_ERROR(AuthorityFolder(plan.folder).write_pair("server", made.value()));
  said.push_back(fmt::format("{} written: for {}", files.certificate, fmt::join(plan.names, ", ")));
  return ok();
}

// Of a file that is there and is brought, too.
Status check_same(const std::string& path, const std::string& content) {
  const Result<std::string> there = read_whole_file(path);
  RETURN_IF_ERROR(there.status());
  if (there.value() == content) return ok();
  return already_exists("{} is there already and is another one: move it away first", path);
}

// A certificate that is there must be for the names that were told.
Status check_names(const SetupPlan& plan) {
  const std::string& file = plan.config.tls.certificate;
  if (!plan.checks_names || !is_issued_here(plan) || !is_file(file)) return ok();
  const Result<std::string> text = read_whole_file(file);
  RETURN_IF_ERROR(text.status());
  const Result<CertificateFacts> facts = read_certificate(text.value());
  if (!facts.is_ok()) return invalid_argument("{}: {}", file, facts.status().message());
  const auto sorted = [](std::vector<std::string> names) {
    std::ranges::sort(names);
    return names;
  };
  if (sorted(facts.value().names) == sorted(plan.names)) return ok();
  return failed_precondition(
      "--names: {} is there already and is for {}, not for {}: say those names, or move it and {} "
      "away to have another one issued",
      file, fmt::join(facts.value().names, ","), fmt::join(plan.names, ","), plan.config.tls.key);
}

// Made under a narrow umask: the server's user must be able to read the file or enter the folder.
Status let_read(const std::string& path, const UnixUser& user) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return ok();
  const bool is_folder = S_ISDIR(facts.st_mode);
  const mode_t needed = is_folder ? 05 : 04;
  const mode_t granted = facts.st_uid == user.uid   ? facts.st_mode >> 6
                         : facts.st_gid == user.gid ? facts.st_mode >> 3
                                                    : facts.st_mode;
  if ((granted & needed) == needed) return ok();
  if (::chmod(path.c_str(), is_folder ? 0755 : 0644) == 0) return ok();
  return unavailable("cannot make {} readable for {}: {}", path, user.name, std::strerror(errno));
}

// Of one of the server's folder, with the folders that lead to it.
Status let_reach(const SetupPlan& plan, const std::string& path) {
  if (!is_inside(plan, path)) return ok();
  RETURN_IF_ERROR(let_read(plan.folder, plan.user));
  for (std::string folder = fs::path(path).parent_path().string(); is_inside(plan, folder);
       folder = fs::path(folder).parent_path().string()) {
    RETURN_IF_ERROR(let_read(folder, plan.user));
  }
  return let_read(path, plan.user);
}

}  // namespace

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

Result<std::string> read_cluster_id(const std::string& folder) {
  const Result<std::string> text = read_whole_file(folder + kIdFile);
  if (!text.is_ok() && is_file(folder + kIdFile)) return text.status();
  if (!text.is_ok()) {
    return not_found("{} has no cluster.id: run `hai-server setup` there first", folder);
  }
  const std::string id = text.value().substr(0, text.value().find('\n'));
  const bool is_good =
      id.size() == kIdDigits && id.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (is_good) return id;
  return invalid_argument("{}{}: must be {} hexadecimal digits", folder, kIdFile, kIdDigits);
}

Result<std::string> cluster_beside(const std::string& config) {
  Result<std::string> id = read_cluster_id(fs::path(config).parent_path().string());
  return id.status().code() == Code::not_found ? std::string() : id;
}

bool is_unfinished(const std::string& folder) { return is_file(folder + kUnfinishedFile); }

Status mark_unfinished(const std::string& folder) {
  return replace_file(folder + kUnfinishedFile,
                      "Of `hai-server setup`, which takes it away when it has come to its end.\n",
                      0644);
}

Status mark_finished(const std::string& folder) {
  std::error_code error;
  fs::remove(folder + kUnfinishedFile, error);
  if (!error) return ok();
  return unavailable("cannot remove {}{}: {}", folder, kUnfinishedFile, error.message());
}

std::string make_cluster_id() { return hash_token(make_token_secret()).substr(0, kIdDigits); }

Status check_files(const SetupPlan& plan, bool has_cluster) {
  for (const auto& [path, content] : plan.files) {
    if (is_file(path)) RETURN_IF_ERROR(check_same(path, content));
  }
  RETURN_IF_ERROR(check_names(plan));
  if (!plan.is_founding) return ok();
  if (!is_own_authority(plan)) {
    const Result<KeyAndCertificate> site = AuthorityFolder(plan.config.authority).read();
    RETURN_IF_ERROR(site.status());
    RETURN_IF_ERROR(own_certificate(site.value()).status());
  }
  if (!is_issued_here(plan)) RETURN_IF_ERROR(read_tls_files(plan.config.tls).status());
  if (!has_cluster) return ok();
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
  for (const auto& [path, content] : plan.files) {
    RETURN_IF_ERROR(write_missing(path, content, mode_of(plan, path), said));
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

Status hand_over(const std::string& path, const UnixUser& user) {
  if (!is_file(path) || ::geteuid() != 0) return ok();
  if (::chown(path.c_str(), user.uid, user.gid) == 0) return ok();
  return unavailable("cannot give {} to {}: {}", path, user.name, std::strerror(errno));
}

Status hand_over_files(const SetupPlan& plan) {
  for (const std::string& path : secret_files(plan.config)) {
    // The site's own files elsewhere are the site's to give.
    if (is_inside(plan, path)) RETURN_IF_ERROR(hand_over(path, plan.user));
  }
  for (const std::string& path : public_files(plan)) RETURN_IF_ERROR(let_reach(plan, path));
  return ok();
}

FirstFiles::~FirstFiles() {
  std::error_code error;
  for (auto path = made_.rbegin(); path != made_.rend(); ++path) fs::remove(*path, error);
}

// A setup that is killed leaves the passfile; the database would ask for the password in that one.
Status FirstFiles::bring_database_files() {
  const std::string root = root_certificate_of(plan_.config.conninfo);
  RETURN_IF_ERROR(bring(root));
  RETURN_IF_ERROR(let_reach(plan_, root));
  const std::string passfile = passfile_of(plan_.config.conninfo);
  if (!is_inside(plan_, passfile)) return ok();
  RETURN_IF_ERROR(bring(passfile));
  RETURN_IF_ERROR(let_read(plan_.folder, plan_.user));
  return hand_over(passfile, plan_.user);
}

Status FirstFiles::bring(const std::string& path) {
  const auto bundled = plan_.files.find(path);
  if (bundled == plan_.files.end()) return ok();
  return is_file(path) ? check_same(path, bundled->second)
                       : make(path, bundled->second, mode_of(plan_, path));
}

Status FirstFiles::bring_id(std::vector<std::string>& said) {
  const std::string path = plan_.folder + kIdFile;
  if (is_file(path)) return ok();
  RETURN_IF_ERROR(make(path, plan_.mark.id + "\n", 0644));
  said.push_back(path + " written");
  return ok();
}

Status FirstFiles::make(const std::string& path, const std::string& text, mode_t mode) {
  const std::string folder = fs::path(path).parent_path().string();
  const std::vector<std::string> missing = missing_folders(folder);
  made_.insert(made_.end(), missing.begin(), missing.end());
  RETURN_IF_ERROR(make_folder(folder));
  made_.push_back(path);
  return replace_file(path, text, mode);
}

}  // namespace hai
