#include "server/http/service_address.h"

#include <algorithm>

#include "common/ascii.h"

namespace hai {
namespace {

constexpr std::string_view kJobs = "/jobs/";
constexpr std::string_view kOwnCookies = "hai_";

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Takes what stands before the next semicolon.
std::string_view take_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find(';'));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return trimmed(part);
}

bool is_word(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, {}, to_lower);
}

bool is_below(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) &&
         (path.size() == prefix.size() || path[prefix.size()] == '/' || path[prefix.size()] == '?');
}

// Browsers take the name of "=value" for empty, and the prefixes of names without regard to case.
bool is_own_cookie(std::string_view pair) {
  const std::string_view name = trimmed(pair.substr(0, pair.find('=')));
  return name.size() >= kOwnCookies.size() &&
         is_word(name.substr(0, kOwnCookies.size()), kOwnCookies);
}

}  // namespace

std::optional<ServiceAddress> parse_service_address(std::string_view target) {
  if (!target.starts_with(kJobs)) return std::nullopt;
  std::string_view text = target.substr(kJobs.size());
  const size_t job_end = text.find('/');
  if (job_end == 0 || job_end == std::string_view::npos) return std::nullopt;
  ServiceAddress address{.job = std::string(text.substr(0, job_end)), .service = {}, .rest = {}};
  text.remove_prefix(job_end + 1);
  const size_t name_end = std::min(text.find_first_of("/?"), text.size());
  if (name_end == 0) return std::nullopt;
  address.service = text.substr(0, name_end);
  text.remove_prefix(name_end);
  // "/jobs/17/web?x" is "/jobs/17/web/?x" that lacks its slash.
  if (text.starts_with('/')) address.rest = text;
  return address;
}

std::string ServicePlace::path_of(std::string_view own) const {
  if (is_below(own, prefix)) return std::string(own);
  if (is_cut_off) return prefix + std::string(own.starts_with('/') ? "" : "/") + std::string(own);
  return prefix + "/";
}

std::string location_outside(std::string_view location, std::string_view host,
                             const ServicePlace& place) {
  std::string_view path = location;
  for (const std::string_view scheme : {"http:", "https:"}) {
    if (path.starts_with(scheme)) path.remove_prefix(scheme.size());
  }
  if (path.starts_with("//")) {
    const std::string_view named = path.substr(2, path.find('/', 2) - 2);
    if (named != host) return std::string(location);
    path.remove_prefix(2 + named.size());
    if (path.empty()) path = "/";
  } else if (!location.starts_with('/')) {
    return std::string(location);
  }
  if (!place.is_cut_off) return std::string(path);
  return place.path_of(path);
}

std::optional<std::string> cookie_outside(std::string_view cookie, const ServicePlace& place) {
  std::string_view left = cookie;
  const std::string_view pair = take_part(left);
  const size_t equals = pair.find('=');
  if (equals == std::string_view::npos || equals == 0 || is_own_cookie(pair)) return std::nullopt;
  std::string text(pair);
  std::string_view path = "/";
  while (!left.empty()) {
    const std::string_view attribute = take_part(left);
    const std::string_view name = trimmed(attribute.substr(0, attribute.find('=')));
    if (is_word(name, "domain")) continue;
    if (is_word(name, "path")) {
      path = attribute.find('=') == std::string_view::npos
                 ? "/"
                 : trimmed(attribute.substr(attribute.find('=') + 1));
      continue;
    }
    if (!attribute.empty()) text += "; " + std::string(attribute);
  }
  return text + "; Path=" + place.path_of(path.starts_with('/') ? path : "/");
}

std::string cookies_inside(std::string_view cookies) {
  std::string kept;
  while (!cookies.empty()) {
    const std::string_view pair = take_part(cookies);
    if (pair.empty() || is_own_cookie(pair)) continue;
    kept += (kept.empty() ? "" : "; ") + std::string(pair);
  }
  return kept;
}

}  // namespace hai
