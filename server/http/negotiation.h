#pragma once
// What every answer owes to the request's headers, whoever made it: an ETag and 304 for who has it
// already, gzip for who takes it, no body for HEAD. On the HTTP server's thread.

#include <string>

#include "server/http/http_message.h"

namespace hai {

// What of a request its answer depends on; kept while the handler works.
struct Negotiation {
  bool is_get = false;
  bool is_head = false;
  bool takes_gzip = false;
  std::string if_none_match;
};
Negotiation negotiation_of(const HttpRequest& request);

// Only successful answers with a whole body change; streams go as they are.
void negotiate(const Negotiation& asked, HttpResponse& response);

// A weak ETag: two bodies with the same one are the same to a reader.
std::string etag_of(std::string_view body);
// Whether If-None-Match names the ETag, or is "*".
bool matches_etag(std::string_view if_none_match, std::string_view etag);

}  // namespace hai
