#pragma once
// What `option (route)` of a call says: the method and the path.

#include <string>

#include "common/check.h"
#include "hai/v1/options.pb.h"

namespace hai {

struct RoutePattern {
  const char* method;
  std::string path;
};

inline RoutePattern pattern_of(const v1::Route& route) {
  switch (route.pattern_case()) {
    case v1::Route::kGet:
      return {"GET", route.get()};
    case v1::Route::kPost:
      return {"POST", route.post()};
    case v1::Route::kPut:
      return {"PUT", route.put()};
    case v1::Route::kDelete:
      return {"DELETE", route.delete_()};
    default:
      CHECK(false);  // a route without a pattern
  }
}

}  // namespace hai
