#pragma once
// A handler of Asio or Beast in a std::function, which must be copyable as handlers are not.

#include <memory>
#include <utility>

namespace hai {

template <typename Handler>
auto copyable_handler(Handler handler) {
  return [shared = std::make_shared<Handler>(std::move(handler))](auto... words) {
    (*shared)(words...);
  };
}

}  // namespace hai
