#include "server/http/cookies.h"

#include <fmt/core.h>

#include <algorithm>

namespace hai {

std::string set_cookie(const Cookie& cookie) {
  return fmt::format("{}={}; Path={}; Max-Age={}; HttpOnly; SameSite={}{}", cookie.name,
                     cookie.value, cookie.path,
                     std::chrono::duration_cast<std::chrono::seconds>(cookie.life).count(),
                     cookie.same_site, cookie.is_secure ? "; Secure" : "");
}

std::string_view cookie_of(const HttpRequest& request, std::string_view name) {
  std::string_view left = request.header("cookie");
  std::string_view found;
  while (!left.empty()) {
    std::string_view pair = left.substr(0, left.find(';'));
    left.remove_prefix(std::min(pair.size() + 1, left.size()));
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=') {
      if (!found.empty()) return {};
      found = pair.substr(name.size() + 1);
    }
  }
  return found;
}

}  // namespace hai
