#pragma once
// What a further server of a cluster needs of the first one: its config, the CA, the keys. One JSON
// text, as secret as the keys in it. Paths are relative to the config's folder, so that the further
// server may have another one.

#include <map>
#include <string>
#include <vector>

#include "common/status.h"
#include "server/setup/cluster_database.h"

namespace hai {

struct Bundle {
  ClusterMark mark;
  std::string config;                        // server.yaml, with kFolder for the folder
  std::map<std::string, std::string> files;  // by path from the folder
  bool operator==(const Bundle&) const = default;
};
inline constexpr std::string_view kBundleFolder = "@folder@";

std::string format_bundle(const Bundle& bundle);
// `invalid_argument` for anything else than format_bundle() gives, and for paths that lead out of
// the folder.
Result<Bundle> parse_bundle(const std::string& json);

struct ExportedBundle {
  Bundle bundle;
  std::vector<std::string> left_out;  // files that the config names and this folder does not have
};
// Of the config at `path`. `database`: how other machines reach the database, "" = as this one
// does; `failed_precondition` if only this one does.
Result<ExportedBundle> export_bundle(const std::string& path, const std::string& database);

}  // namespace hai
