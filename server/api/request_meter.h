#pragma once
// How many requests of each kind there were, how they ended and how long they took. From any
// thread.

#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "server/api/event_meter.h"

namespace hai {

class RequestMeter {
 public:
  // `route` is a pattern or the name of a method, never what a client made up: series must not grow
  // with that. `code` is a word of a small set. `method` is "" where there is none.
  void note(const std::string& method, const std::string& route, const std::string& code,
            double seconds);

  using Requests = std::map<std::tuple<std::string, std::string, std::string>, int64_t>;
  Requests requests() const;                                // by method, route, code
  std::map<std::string, SecondsHistogram> seconds() const;  // by route

 private:
  mutable std::mutex mutex_;
  Requests requests_;
  std::map<std::string, SecondsHistogram> seconds_;
};

}  // namespace hai
