#pragma once
// Cookies (RFC 6265): what a browser keeps for this server. All are HttpOnly: no script reads them.

#include <string>
#include <string_view>

#include "common/time.h"
#include "server/http/http_message.h"

namespace hai {

struct Cookie {
  std::string_view name;
  std::string_view value;  // letters, digits, - and _
  std::string_view path = "/";
  Duration life{};  // 0 = it is taken away
  bool is_secure = true;
  std::string_view same_site = "Strict";
};

// The value of a Set-Cookie header.
std::string set_cookie(const Cookie& cookie);

// The first cookie of that name that the request has; "" if there is none.
std::string_view cookie_of(const HttpRequest& request, std::string_view name);

}  // namespace hai
