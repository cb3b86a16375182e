#pragma once
// Names of the files that agent and shim share about one rank. DATA/ranks/17.2.0/ lives as long as
// the rank is known, DATA/logs/17.2.0/ longer.

#include <optional>
#include <string>
#include <string_view>

#include "common/id.h"

namespace hai {

struct RankDirectory {
  std::string path;

  std::string launch_file() const { return path + "/launch.json"; }
  std::string status_file() const { return path + "/status.json"; }
  // Locked exclusively by the shim from its birth to its death: the proof that it lives.
  std::string lock_file() const { return path + "/lock"; }
  std::string shim_log() const { return path + "/shim.log"; }
  std::string image_file() const { return path + "/image.json"; }            // see image_file.h
  std::string image_place() const { return path + "/image"; }                // see image_root.h
  std::string validation_file() const { return path + "/validation.json"; }  // of a validation
};

std::string ranks_root(const std::string& data_dir);
std::string logs_root(const std::string& data_dir);
RankDirectory rank_directory(const std::string& data_dir, const RankKey& key);
std::string log_directory(const std::string& data_dir, const RankKey& key);
// Where the record of its attempt's steps goes, beside `log_directory`, which is that of `key`.
std::string step_record_directory(const std::string& log_directory, const RankKey& key);

// "17.2.0", the name of such a directory.
std::optional<RankKey> parse_rank_key(std::string_view text);

// In the socket directory: the rank's own one, or a short one beside it if its path is too long for
// a socket.
std::string job_socket(const std::string& socket_dir);
std::string control_socket(const std::string& socket_dir);

// Whether sockets can be made in this directory: a Unix socket's path has at most 107 bytes.
bool fits_sockets(const std::string& directory);

}  // namespace hai
