#pragma once
// The contract of the REST interface, schemas/openapi.yaml, as part of the program: it is served,
// and the query of each request is held against it, so that a misspelt filter is an error and not a
// longer list.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "server/http/http_message.h"
#include "server/http/json.h"

namespace hai {

extern const char* const kOpenapiYaml;

// One query parameter.
struct QueryRule {
  std::string type;  // "string", "integer" or "boolean"
  std::optional<int64_t> minimum, maximum;
  std::optional<size_t> length_max;
  std::vector<std::string> words;  // empty = any
};

class Openapi {
 public:
  Openapi();  // of kOpenapiYaml; a document that cannot be read is a bug

  std::string json() const;
  // By method and path; nullptr if the document does not have it.
  using Rules = std::map<std::string, QueryRule, std::less<>>;
  const Rules* find(const std::string& method, const std::string& path) const;
  // Whether it answers callers without a token, too.
  bool is_for_anyone(const std::string& method, const std::string& path) const;
  // Whether its query may have parameters that are not in the document.
  bool takes_others(const std::string& method, const std::string& path) const;
  // Every "GET /api/v1/jobs".
  std::set<std::string> operations() const;

 private:
  std::string text_;
  std::map<std::string, Rules> operations_;  // by "GET /api/v1/jobs"
  std::set<std::string> for_anyone_;         // likewise
  std::set<std::string> taking_others_;      // likewise
};

// invalid_argument that names the parameter.
Status check_query(const Openapi::Rules& rules, const HttpRequest& request);

}  // namespace hai
