#include "cli/dev/dev_cluster.h"
#include "cli/dev/verbs.h"
#include "cli/exit_code.h"
#include "cli/session.h"
#include "common/shell_words.h"

namespace hai::cli {

int dev_fleet(Session& session, const DevPlace& place, const std::vector<std::string>& words) {
  const Result<DevPlace> found = resolve_place(session, place);
  if (!found.is_ok()) return session.usage_error(found.status().message());
  const Result<DevCluster> cluster = load_cluster(found.value().data);
  if (!cluster.is_ok()) return session.fail(cluster.status());
  const DevClusterProcesses processes(found.value().data, cluster.value());
  const Result<std::string> answer = processes.tell_fleet(join_words(words));
  if (!answer.is_ok()) return session.fail(answer.status());
  print(answer.value() + "\n");
  return kOk;
}

}  // namespace hai::cli
