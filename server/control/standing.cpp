#include "server/control/standing.h"

namespace hai {

Status why_not_leading(const Standing& standing) {
  if (standing.store_is_away) {
    return unavailable("the database cannot be reached: {}; nothing was changed, retry",
                       standing.reason);
  }
  return unavailable("this server does not lead: {}; retry", standing.reason);
}

}  // namespace hai
