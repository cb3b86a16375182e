#include "server/http/web_files.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/gzip/gzip.h"
#include "server/http/gzip.h"
#include "server/http/negotiation.h"
#include "server/http/problem.h"

namespace hai {

namespace {

namespace fs = std::filesystem;

constexpr int kSmallest = 9;
constexpr std::string_view kAssets = "/assets/";
constexpr const char* kIndex = "/index.html";
// Nothing from elsewhere, and no script within the page: what a job's name smuggles in stays text.
constexpr const char* kPolicy =
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

std::string content_type_of(const std::string& suffix) {
  static const std::map<std::string, std::string> kTypes = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".json", "application/json"},
      {".woff2", "font/woff2"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".txt", "text/plain; charset=utf-8"}};
  const auto found = kTypes.find(suffix);
  return found == kTypes.end() ? "application/octet-stream" : found->second;
}

bool is_packed_already(const std::string& suffix) { return suffix == ".woff2" || suffix == ".png"; }

Result<std::string> read_whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return unavailable("cannot read {}", path.string());
  return std::move(text).str();
}

}  // namespace

Result<WebFiles> WebFiles::load(const std::string& folder) {
  WebFiles web;
  size_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (!it->is_regular_file(error)) continue;
    Result<std::string> body = read_whole(it->path());
    if (!body.is_ok()) return body.status();
    bytes += body.value().size();
    if (bytes > kBytesMax || web.files_.size() == kFilesMax) {
      return invalid_argument("{} is no dashboard: more than {} files or {} bytes", folder,
                              kFilesMax, kBytesMax);
    }
    const std::string path = "/" + it->path().lexically_relative(folder).generic_string();
    const std::string suffix = it->path().extension().string();
    File& file = web.files_[path];
    file.content_type = content_type_of(suffix);
    file.body = std::move(body).value();
    file.etag = etag_of(file.body);
    file.is_immutable = path.starts_with(kAssets);
    if (!is_packed_already(suffix)) file.gzipped = gzip(file.body, kSmallest);
    if (file.gzipped.size() >= file.body.size()) file.gzipped.clear();
  }
  if (error) return invalid_argument("cannot read {}: {}", folder, error.message());
  if (!web.files_.contains(kIndex)) return invalid_argument("{} has no index.html", folder);
  return web;
}

bool WebFiles::is_page_or_file(std::string_view path) {
  if (path == "/api" || path.starts_with("/api/")) return false;
  return path != "/livez" && path != "/readyz" && path != "/version" && path != "/metrics";
}

bool WebFiles::is_page(std::string_view path) const {
  return is_page_or_file(path) && !path.starts_with(kAssets) &&
         (path == kIndex || !files_.contains(path));
}

HttpResponse WebFiles::answer(const HttpRequest& request) const {
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse refusal = problem(405, "method_not_allowed", request.path + " allows GET, HEAD");
    refusal.headers.emplace_back("Allow", "GET, HEAD");
    return refusal;
  }
  auto found = files_.find(request.path);
  if (found == files_.end() && request.path.starts_with(kAssets)) {
    return problem(not_found("nothing is served at {}", request.path));
  }
  if (found == files_.end()) found = files_.find(kIndex);
  const File& file = found->second;
  HttpResponse response{.content_type = file.content_type};
  const bool is_zipped = !file.gzipped.empty() && accepts_gzip(request.header("accept-encoding"));
  response.body = is_zipped ? file.gzipped : file.body;
  if (is_zipped) response.headers.emplace_back("Content-Encoding", "gzip");
  response.headers.emplace_back("Vary", "Accept-Encoding");
  response.headers.emplace_back("ETag", file.etag);
  response.headers.emplace_back(
      "Cache-Control", file.is_immutable ? "public, max-age=31536000, immutable" : "no-cache");
  response.headers.emplace_back("Content-Security-Policy", kPolicy);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  return response;
}

std::string find_web_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path folder = self.parent_path().parent_path() / "share" / "hai" / "web";
  return fs::exists(folder / "index.html", error) ? folder.string() : std::string();
}

}  // namespace hai
