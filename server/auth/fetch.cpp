#include "server/auth/fetch.h"

#include <curl/curl.h>

#include <memory>

#include "common/free_with.h"
#include "common/host_port.h"

namespace hai {

namespace {

constexpr size_t kBodyMax = 1024 * 1024;
constexpr long kTimeoutMs = 5'000;

using Handle = std::unique_ptr<CURL, Free<curl_easy_cleanup>>;
using Headers = std::unique_ptr<curl_slist, Free<curl_slist_free_all>>;

size_t take_body(char* data, size_t, size_t size, void* target) {
  auto& body = *static_cast<std::string*>(target);
  if (body.size() + size > kBodyMax) return 0;  // Ends the request.
  body.append(data, size);
  return size;
}

int ask_whether_to_stop(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<std::atomic<bool>*>(stop)->load() ? 1 : 0;
}

std::string_view host_of(std::string_view url) {
  const size_t begin = url.find("://");
  if (begin == std::string_view::npos) return {};
  std::string_view rest = url.substr(begin + 3);
  return rest.substr(0, rest.find_first_of("/?#"));
}

std::string encode_form(const std::map<std::string, std::string>& form) {
  std::string text;
  for (const auto& [name, value] : form) {
    text += (text.empty() ? "" : "&") + percent_encode(name) + "=" + percent_encode(value);
  }
  return text;
}

}  // namespace

std::string percent_encode(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

Status check_secure_url(std::string_view url) {
  const std::string_view authority = host_of(url);
  const std::string host = split_host_port(authority).host;
  const bool is_plain = authority.find('@') == std::string_view::npos && !host.empty() &&
                        url.find('#') == std::string_view::npos;
  if (is_plain && url.starts_with("https://")) return ok();
  if (is_plain && url.starts_with("http://") && is_loopback(host)) return ok();
  return invalid_argument("must be https://HOST/…, or http:// on this machine, is {}", url);
}

CurlFetcher::CurlFetcher(std::string ca_file) : ca_file_(std::move(ca_file)) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  CHECK(started == CURLE_OK);
}

Result<FetchReply> CurlFetcher::fetch(const FetchRequest& request) {
  RETURN_IF_ERROR(check_secure_url(request.url));
  const Handle curl(curl_easy_init());
  if (!curl) return unavailable("no memory for a request to {}", request.url);
  FetchReply reply;
  char why[CURL_ERROR_SIZE] = "";
  const auto set = [&](CURLoption option, auto value) {
    CHECK(curl_easy_setopt(curl.get(), option, value) == CURLE_OK);
  };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_TIMEOUT_MS, kTimeoutMs);
  set(CURLOPT_CONNECTTIMEOUT_MS, kTimeoutMs);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!ca_file_.empty()) set(CURLOPT_CAINFO, ca_file_.c_str());
  if (request.url.starts_with("http://")) set(CURLOPT_PROXY, "");
  set(CURLOPT_ERRORBUFFER, why);
  set(CURLOPT_WRITEFUNCTION, take_body);
  set(CURLOPT_WRITEDATA, &reply.body);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, ask_whether_to_stop);
  set(CURLOPT_XFERINFODATA, &is_stopping_);
  Headers headers(curl_slist_append(nullptr, "Accept: application/json"));
  if (!request.authorization.empty()) {
    const std::string line = "Authorization: " + request.authorization;
    headers.reset(curl_slist_append(headers.release(), line.c_str()));
  }
  set(CURLOPT_HTTPHEADER, headers.get());
  const std::string form = encode_form(request.form);
  if (!request.form.empty()) {
    set(CURLOPT_POSTFIELDSIZE, static_cast<long>(form.size()));
    set(CURLOPT_POSTFIELDS, form.c_str());
  }
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK) {
    const bool is_long = code == CURLE_WRITE_ERROR;
    return unavailable("{}: {}", request.url,
                       is_long          ? "the answer is longer than 1 MiB"
                       : why[0] != '\0' ? why
                                        : curl_easy_strerror(code));
  }
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  reply.status = static_cast<int>(status);
  return reply;
}

}  // namespace hai
