#include "agent/os/rank_directory.h"

#include <sys/un.h>

#include <charconv>

#include "common/log_messages.h"

namespace hai {

namespace {

template <typename T>
bool take_number(std::string_view& text, T& out) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || out < 0) return false;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  return true;
}

bool take_dot(std::string_view& text) {
  if (!text.starts_with('.')) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string ranks_root(const std::string& data_dir) { return data_dir + "/ranks"; }
std::string logs_root(const std::string& data_dir) { return data_dir + "/logs"; }

RankDirectory rank_directory(const std::string& data_dir, const RankKey& key) {
  return {ranks_root(data_dir) + "/" + to_string(key)};
}

std::string log_directory(const std::string& data_dir, const RankKey& key) {
  return logs_root(data_dir) + "/" + to_string(key);
}

std::string step_record_directory(const std::string& log_directory, const RankKey& key) {
  return log_directory.substr(0, log_directory.rfind('/') + 1) + to_string(step_record_of(key));
}

std::optional<RankKey> parse_rank_key(std::string_view text) {
  RankKey key;
  const bool parsed = take_number(text, key.job.value) && take_dot(text) &&
                      take_number(text, key.attempt) && take_dot(text) &&
                      take_number(text, key.rank) && text.empty();
  if (!parsed) return std::nullopt;
  return key;
}

std::string job_socket(const std::string& socket_dir) { return socket_dir + "/job.sock"; }
std::string control_socket(const std::string& socket_dir) { return socket_dir + "/control.sock"; }

bool fits_sockets(const std::string& directory) {
  return control_socket(directory).size() < sizeof(sockaddr_un::sun_path);
}

}  // namespace hai
