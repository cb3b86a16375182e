#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/context_config.h"
#include "cli/dev/cluster_files.h"
#include "cli/dev/verbs.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

bool is_cluster_name(const std::string& text) {
  return !text.empty() && text.size() <= 40 && text.front() != '-' &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
             std::string::npos;
}

const Context* find_context(const ContextConfig& config, const std::string& name) {
  for (const Context& context : config.contexts) {
    if (context.name == name) return &context;
  }
  return nullptr;
}

}  // namespace

Result<DevPlace> resolve_place(const Session& session, const DevPlace& place) {
  const Result<ContextConfig> config = load_contexts(context_config_path());
  RETURN_IF_ERROR(config.status());
  DevPlace found = place;
  if (found.name.empty()) found.name = session.context;
  if (found.name.empty()) {
    const Context* current = find_context(config.value(), config.value().current);
    if (current != nullptr && !current->dev_data.empty()) found.name = current->name;
  }
  if (found.name.empty()) found.name = "dev";
  if (!is_cluster_name(found.name)) {
    return invalid_argument("--name: '{}' is no name of a cluster: letters, digits, - _",
                            found.name);
  }
  if (found.data.empty()) {
    const Context* context = find_context(config.value(), found.name);
    const bool known = context != nullptr && !context->dev_data.empty();
    found.data = known ? context->dev_data : default_data_directory(found.name);
  }
  std::error_code error;
  const auto absolute = std::filesystem::absolute(found.data, error).lexically_normal();
  found.data = absolute.string();
  while (found.data.size() > 1 && found.data.back() == '/') found.data.pop_back();
  return found;
}

Result<int> lock_cluster(const std::string& data) {
  const std::string path = ClusterFiles{data}.lock();
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return failed_precondition("{}: {}", path, std::strerror(errno));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    say("another hai dev command works on this cluster; waiting for it");
    flock(fd, LOCK_EX);
  }
  return fd;
}

}  // namespace hai::cli
