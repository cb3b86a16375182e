#pragma once
// A request and its answer as plain values: what handlers see. Beast stays inside http_session.cpp
// and http_server.cpp.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"
#include "server/api/audit_facts.h"
#include "server/http/http_socket.h"

namespace hai {

struct HttpRequest {
  std::string method;                                      // "GET"
  std::string target;                                      // as it was sent
  std::string path;                                        // decoded, without the query
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order; keys may repeat
  std::map<std::string, std::string> headers;              // names in lower case
  std::string body;
  std::string peer;  // address of the client, for the log
  // What its handler tells the audit log beside how it ended.
  std::shared_ptr<AuditFacts> facts = std::make_shared<AuditFacts>();

  // The first value of the key; "" if it is absent.
  std::string_view query_value(std::string_view key) const;
  std::string_view header(const std::string& name) const;  // `name` in lower case
};

// A piece of a streamed body, or its end. Copies share the text: one piece may go to thousands.
class HttpChunk {
 public:
  HttpChunk(std::nullopt_t) {}  // NOLINT: the end
  HttpChunk(std::string text)   // NOLINT: a text is one
      : text_(std::make_shared<const std::string>(std::move(text))) {}
  HttpChunk(const char* text) : HttpChunk(std::string(text)) {}  // NOLINT
  HttpChunk(std::shared_ptr<const std::string> text)             // NOLINT
      : text_(std::move(text)) {}
  HttpChunk(std::optional<std::string> text) {  // NOLINT
    if (text) text_ = std::make_shared<const std::string>(std::move(*text));
  }
  // The end of a body that lacks something.
  static HttpChunk cut() {
    HttpChunk chunk(std::nullopt);
    chunk.is_cut_ = true;
    return chunk;
  }
  bool is_cut() const { return is_cut_; }
  bool has_value() const { return text_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const std::string& operator*() const { return *text_; }
  const std::string* operator->() const { return text_.get(); }

 private:
  std::shared_ptr<const std::string> text_;
  bool is_cut_ = false;
};

// Gives the next piece of a streamed body, or its end. Called again only after the piece
// was written, so a slow reader holds back its source. May be answered from any thread.
using HttpChunkDone = std::function<void(HttpChunk)>;
using HttpStream = std::function<void(HttpChunkDone)>;

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  Status error = ok();  // that `body` tells of, if it is one of ours
  std::vector<std::pair<std::string, std::string>> headers;
  HttpStream stream;  // if set: sent after `body`, until its end
  // Of a stream whose end counts: it is sent in chunks, so that a client can tell its end from that
  // of the connection. Not to clients of HTTP/1.0.
  bool is_chunked = false;
  bool is_gzip = false;  // `body` and what the stream gives are compressed before they are sent
  // If set, instead of all above: the request is for a WebSocket (is_for_socket) and gets one.
  std::function<void(std::shared_ptr<HttpSocket>)> socket;
  // If set, it makes the answer instead of all above, on the HTTP server's thread: formatting a
  // thousand jobs must not hold up the loop that found them.
  std::function<HttpResponse()> render;
};

// Answers one request; from any thread, only the first call counts.
using HttpRespond = std::function<void(HttpResponse)>;

// Whether the client asks for a WebSocket.
bool is_for_socket(const HttpRequest& request);

// "/api/v1/jobs?state=running&state=queued" → path and query; false if an escape is broken or a
// NUL or control character hides in it.
bool parse_target(std::string_view target, HttpRequest& request);
// Percent-decoding; in queries '+' is a space. nullopt for a broken escape.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);

}  // namespace hai
