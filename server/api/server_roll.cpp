#include "server/api/server_roll.h"

#include <utility>

#include "common/log.h"

namespace hai {

ServerRoll::ServerRoll(Loop& loop, ServerStore* store, std::string own, Told told)
    : loop_(loop), store_(store), own_(std::move(own)), told_(std::move(told)) {
  if (store_ != nullptr) arm(kFirst);
}

ServerRoll::~ServerRoll() { loop_.cancel(timer_); }

void ServerRoll::arm(Duration pause) {
  timer_ = loop_.call_after(pause, [this] { tick(); });
}

void ServerRoll::tick() {
  timer_ = 0;
  store_->note(own_, kKeep, scope_.bind([this](Result<std::vector<std::string>> servers) {
    if (servers.is_ok()) {
      told_(servers.value());
    } else {
      log_warning("servers_not_known", {{"reason", servers.status()}});
    }
    arm(kPeriod);
  }));
}

}  // namespace hai
