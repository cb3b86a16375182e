#include "agent/node_health.h"

#include "agent/os/host_facts.h"

namespace hai {

namespace {

// How the node is used is asked anew so often: it costs a walk over /proc.
constexpr Duration kUsePeriod = 10s;

}  // namespace

std::string node_boot_id(const HealthConfig& config) {
  const std::string recorded = read_boot_id(config.proc_root);
  return recorded.empty() ? read_boot_id("/proc") : recorded;
}

LocalHealth::LocalHealth(Loop& loop, std::vector<std::unique_ptr<Check>> checks, SiteHooks hooks,
                         std::string node, std::function<NodeUse()> use,
                         std::shared_ptr<const GpuReadingBoard> gpus, const std::string& data_dir,
                         const std::string& boot_id)
    : loop_(loop),
      hooks_(std::move(hooks)),
      node_(std::move(node)),
      use_(std::move(use)),
      gpus_(std::move(gpus)),
      monitor_(loop, std::move(checks)) {
  monitor_.keep_at(health_record_path(data_dir), boot_id, Keeping::writes);
}

void LocalHealth::start(std::function<void()> changed) {
  changed_ = std::move(changed);
  monitor_.set_on_change([this] {
    if (is_known_) changed_();
  });
  follow_use();
  monitor_.start();
  monitor_.run_once([this] { end_look(); });
}

void LocalHealth::follow_use() {
  NodeUse use = use_();
  use.server_skew = skew_;
  monitor_.set_use(std::move(use));
  loop_.call_after(kUsePeriod, [this] { follow_use(); });
}

const std::vector<CheckResult>* LocalHealth::results() const {
  return is_known_ ? &monitor_.results() : nullptr;
}

void LocalHealth::look(std::function<void()> done) {
  lookers_.push_back(std::move(done));
  if (lookers_.size() > 1) return;  // they share a look
  look_timer_ = loop_.call_after(kLookMax, [this] { end_look(); });
  monitor_.run_once([this] { end_look(); });
}

void LocalHealth::end_look() {
  loop_.cancel(std::exchange(look_timer_, 0));
  if (!std::exchange(is_known_, true)) changed_();
  for (std::function<void()>& done : std::exchange(lookers_, {})) done();
}

void LocalHealth::clear(const ClearFault& order) {
  monitor_.clear(order.name, order.subject, order.at);
}

void LocalHealth::run_hook(const RunHook& order, std::function<void(HookResult)> done) {
  run_site_hook(loop_, hooks_, order, node_, [this, done = std::move(done)](HookResult result) {
    look([done, result = std::move(result)] { done(result); });
  });
}

}  // namespace hai
