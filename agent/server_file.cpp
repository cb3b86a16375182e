#include "agent/server_file.h"

#include <fmt/ranges.h>

#include <sstream>

#include "agent/os/files.h"

namespace hai {
namespace {

constexpr size_t kServerFileBytesMax = 16 << 10;

std::string server_file_in(const std::string& data_dir) { return data_dir + "/servers"; }

}  // namespace

std::vector<std::string> load_servers(const std::string& data_dir) {
  const Result<std::string> text = read_file(server_file_in(data_dir), kServerFileBytesMax);
  std::vector<std::string> servers;
  if (!text.is_ok()) return servers;
  std::istringstream lines(text.value());
  for (std::string line; std::getline(lines, line);) servers.push_back(line);
  return servers;
}

Status save_servers(const std::string& data_dir, const std::vector<std::string>& servers) {
  return write_file_atomic(server_file_in(data_dir), fmt::format("{}\n", fmt::join(servers, "\n")),
                           0644, Durability::survives_crash_of_machine);
}

}  // namespace hai
