#pragma once
// "Did you mean" for names that only the server knows: asked after it has answered that there is no
// such job, node or user, and only briefly, since the error itself is what matters.

#include <string>
#include <string_view>

namespace hai::cli {

class Client;

struct MissingName {
  bool is_job = false;
  bool is_node = false;
  bool is_user = false;
  std::string name;
};

// What a not_found of the server is about, by its words; an empty name if it is about none of
// these.
MissingName missing_name(std::string_view message);
// "did you mean train?" or "".
std::string suggestion(const Client& client, std::string_view message);

}  // namespace hai::cli
