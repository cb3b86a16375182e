#include <filesystem>

#include "cli/context_config.h"
#include "cli/dev/dev_cluster.h"
#include "cli/dev/verbs.h"
#include "cli/exit_code.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

// Only called for a directory in which a cluster's description was found.
Status purge(const DevCluster& cluster, const std::string& data) {
  std::error_code error;
  fs::remove_all(cluster.postgres_data, error);
  fs::remove_all(cluster.postgres_socket, error);
  // Their folder when it lies outside: empty by now.
  fs::remove(fs::path(cluster.postgres_data).parent_path(), error);
  fs::remove_all(data, error);
  if (error) return internal("{}: {}", data, error.message());
  return update_contexts(context_config_path(), [&](ContextConfig& config) {
    for (const Context& context : config.contexts) {
      if (context.name == cluster.name && context.dev_data == data) {
        remove_context(config, cluster.name);
        return;
      }
    }
  });
}

}  // namespace

int dev_down(Session& session, const DevPlace& place, bool purge_data) {
  const Result<DevPlace> found = resolve_place(session, place);
  if (!found.is_ok()) return session.usage_error(found.status().message());
  const Result<DevCluster> cluster = load_cluster(found.value().data);
  if (!cluster.is_ok()) return session.fail(cluster.status());
  const Result<int> lock = lock_cluster(found.value().data);
  if (!lock.is_ok()) return session.fail(lock.status());
  DevClusterProcesses processes(found.value().data, cluster.value());
  if (const Status status = processes.stop(); !status.is_ok()) return session.fail(status);
  if (purge_data) {
    const Status status = purge(cluster.value(), found.value().data);
    if (!status.is_ok()) return session.fail(status);
    print(fmt::format("cluster {} is stopped, its data is removed\n", cluster.value().name));
    return kOk;
  }
  print(fmt::format("cluster {} is stopped; its data stays in {} (--purge removes it)\n",
                    cluster.value().name, found.value().data));
  return kOk;
}

}  // namespace hai::cli
