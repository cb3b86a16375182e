#include "server/http/document_words.h"

#include <nlohmann/json.hpp>

#include "common/job_spec.h"
#include "server/api/words.h"

namespace hai {

namespace {

Json one_of(Json words) { return {{"type", "string"}, {"enum", std::move(words)}}; }

template <typename Enum>
Json one_of(const Words<Enum>& words) {
  return one_of(Json(words.all()));
}

Json priorities() {
  Json list = Json::array();
  for (const Priority priority : kPriorities) list.push_back(to_string(priority));
  list.push_back(to_string(Priority::automatic));
  return one_of(std::move(list));
}

}  // namespace

void add_words(Json& schemas) {
  schemas["JobState"] = one_of(kJobStates);
  schemas["AttemptState"] = one_of(kAttemptStates);
  schemas["Priority"] = priorities();
  schemas["PendingCode"] = one_of(kPendingCodes);
  schemas["Liveness"] = one_of(kLivenesses);
  schemas["Scheduling"] = one_of(kSchedulings);
  schemas["Health"] = one_of(kVerdicts);
  schemas["Role"] = one_of(kRoles);
  schemas["TokenScope"] = one_of(kTokenScopes);
  schemas["RepairStep"] = one_of(kRepairSteps);
  schemas["ServiceProtocol"] = one_of(kServiceProtocols);
  schemas["Effect"] = one_of(kEffects);
}

}  // namespace hai
