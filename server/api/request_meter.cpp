#include "server/api/request_meter.h"

namespace hai {

namespace {

const std::vector<double> kBounds = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2, 10};

}  // namespace

void RequestMeter::note(const std::string& method, const std::string& route,
                        const std::string& code, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{method, route, code}];
  seconds_.try_emplace(route, kBounds).first->second.add(seconds);
}

RequestMeter::Requests RequestMeter::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::map<std::string, SecondsHistogram> RequestMeter::seconds() const {
  const std::lock_guard lock(mutex_);
  return seconds_;
}

}  // namespace hai
