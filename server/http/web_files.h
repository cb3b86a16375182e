#pragma once
// The dashboard as Vite builds it, held in memory ready to send: no request touches the disk, and
// no path can leave the folder. Loaded once, before the HTTP server starts; read-only afterwards.

#include <map>
#include <string>

#include "common/status.h"
#include "server/http/http_message.h"

namespace hai {

class WebFiles {
 public:
  static constexpr size_t kFilesMax = 1'000;
  static constexpr size_t kBytesMax = 64 << 20;

  // An error if there is no index.html, or too much.
  static Result<WebFiles> load(const std::string& folder);

  bool is_empty() const { return files_.empty(); }
  // Whether the path is the dashboard's: a file of it, or a page, which the browser draws itself.
  static bool is_page_or_file(std::string_view path);
  bool is_page(std::string_view path) const;
  // Of a path for which is_page_or_file() holds.
  HttpResponse answer(const HttpRequest& request) const;

 private:
  struct File {
    std::string content_type;
    std::string body;
    std::string gzipped;  // "" if that is no smaller
    std::string etag;
    bool is_immutable = false;  // its name has a hash of its content
  };
  std::map<std::string, File, std::less<>> files_;  // by path: "/assets/index-abc.js"
};

// The folder beside an installed or freshly built program: BIN/../share/hai/web; "" if there is
// none.
std::string find_web_folder();

}  // namespace hai
