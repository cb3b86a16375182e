#include "agent/rpc/take_over.h"

namespace hai {

void take_over(const AgentReport& unsent, AgentReport& next) {
  if (!next.facts) next.facts = unsent.facts;
  if (!next.checks) next.checks = unsent.checks;
  if (!next.gpu_readings) next.gpu_readings = unsent.gpu_readings;
  next.is_news_only = next.is_news_only && unsent.is_news_only;
}

}  // namespace hai
