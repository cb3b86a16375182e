#include "server/setup/bundle.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/config/yaml_text.h"
#include "common/tls/authority_folder.h"
#include "common/whole_file.h"
#include "server/auth/base64url.h"
#include "server/server_config.h"
#include "server/setup/setup_files.h"
#include "server/store/conninfo.h"

namespace hai {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

bool stays_inside(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  // Compared as texts: paths are equal however many slashes stand between their names.
  return !path.empty() && normal.is_relative() && *normal.begin() != ".." &&
         normal.string() == path;
}

std::string replaced(std::string text, const std::string& from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// All that a further server cannot do without, but what is each server's own.
std::vector<std::string> files_named(const ServerConfig& config) {
  std::vector<std::string> files{config.tls.ca, config.secrets_key_file, config.agent_token_file,
                                 config.oidc.client_secret_file, config.oidc.ca};
  files.insert(files.end(), config.secrets_old_key_files.begin(),
               config.secrets_old_key_files.end());
  if (!config.authority.empty()) {
    for (const char* name : {"/ca.crt", "/ca.key", "/ca-old.crt", "/ca-old.key"}) {
      if (is_file(config.authority + name)) files.push_back(config.authority + name);
    }
  }
  files.push_back(passfile_of(config.conninfo));
  files.push_back(root_certificate_of(config.conninfo));
  std::ranges::sort(files);
  files.erase(std::ranges::unique(files).begin(), files.end());
  std::erase(files, "");
  return files;
}

}  // namespace

std::string format_bundle(const Bundle& bundle) {
  Json files = Json::object();
  for (const auto& [path, content] : bundle.files) files[path] = to_base64url(content);
  return Json{{"hai_bundle", kVersion},
              {"id", bundle.mark.id},
              {"cluster", bundle.mark.cluster},
              {"config", to_base64url(bundle.config)},
              {"files", files}}
             .dump(1) +
         "\n";
}

Result<Bundle> parse_bundle(const std::string& json) {
  const Status refused =
      invalid_argument("--bundle: is not what `hai-server setup --export-bundle` writes");
  const Json whole = Json::parse(json, nullptr, false);
  if (!whole.is_object() || whole.value("hai_bundle", Json()) != Json(kVersion)) return refused;
  for (const char* key : {"id", "cluster", "config"}) {
    if (!whole.contains(key) || !whole[key].is_string()) return refused;
  }
  if (!whole.contains("files") || !whole["files"].is_object()) return refused;
  Bundle bundle{.mark = {.id = whole["id"], .cluster = whole["cluster"]}};
  const auto config = from_base64url(whole["config"].get<std::string>());
  if (!config || bundle.mark.id.empty()) return refused;
  bundle.config = *config;
  for (const auto& [path, content] : whole["files"].items()) {
    if (!stays_inside(path) || !content.is_string()) return refused;
    const auto bytes = from_base64url(content.get<std::string>());
    if (!bytes) return refused;
    bundle.files[path] = *bytes;
  }
  return bundle;
}

Result<ExportedBundle> export_bundle(const std::string& path, const std::string& database) {
  Result<ServerConfig> config = read_server_config(path);
  RETURN_IF_ERROR(config.status());
  const std::string folder = fs::absolute(path).parent_path().string();
  const Result<std::string> id = read_cluster_id(folder);
  RETURN_IF_ERROR(id.status());
  if (database.empty() && is_local_conninfo(config.value().conninfo)) {
    return failed_precondition(
        "the database, '{}', is reached from this machine only: name how other machines reach it: "
        "--database 'host=… dbname=… user=… passfile={}/pgpass'",
        shown_conninfo(config.value().conninfo), folder);
  }
  Result<std::string> text = read_whole_file(path);
  RETURN_IF_ERROR(text.status());
  if (database.empty()) {
    RETURN_IF_ERROR(check_conninfo(config.value().conninfo, path + ": store.conninfo"));
  } else {
    RETURN_IF_ERROR(check_conninfo(database));
    config.value().conninfo = database;
    text = with_section(text.value(), "store",
                        fmt::format("store:\n  conninfo: {}\n", quoted_yaml(database)));
  }
  ExportedBundle out;
  out.bundle.mark = {.id = id.value(), .cluster = config.value().cluster};
  out.bundle.config = replaced(text.value(), folder + "/", std::string(kBundleFolder) + "/");
  const std::string passfile = passfile_of(config.value().conninfo);
  for (const std::string& file : files_named(config.value())) {
    const std::string inside = fs::path(file).lexically_relative(folder).string();
    // The passfile of other machines need not be on this one.
    if (!stays_inside(inside) || (file == passfile && !is_file(file))) {
      out.left_out.push_back(file);
      continue;
    }
    Result<std::string> content = read_whole_file(file);
    RETURN_IF_ERROR(content.status());
    out.bundle.files[inside] = std::move(content).value();
  }
  return out;
}

}  // namespace hai
