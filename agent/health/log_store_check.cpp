#include "agent/health/log_store_check.h"

#include "agent/health/results.h"

namespace hai {

std::vector<CheckResult> LogStoreCheck::run(const CheckInput&) {
  const CheckSubject about{.name = "log_store", .subject = "", .gpus = {}};
  const Status status = status_();
  if (status.is_ok()) return {make_ok(about, "takes logs")};
  const char* remedy = status.code() == Code::resource_exhausted
                           ? "make room there; lower logs.keep or logs.user_max of server.yaml"
                           : "look at logs.store of agent.yaml and at its file server";
  return {make_warn(about, {.summary = status.message(), .remedy = remedy})};
}

}  // namespace hai
