#pragma once
// The clusters this user knows: where they are, and the token for each. One JSON file of mode 0600,
// changed only by whole replacement under a lock, so that two programs at once lose nothing.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "common/tls/tls_files.h"

namespace hai::cli {

struct Context {
  std::string name;
  std::vector<std::string> servers;  // host:port
  std::string token;
  std::string dev_data = {};  // of a dev cluster: its data directory
  std::string before = {};    // which one was current when it became so
  std::string ca = {};  // whom its servers are believed by, in PEM, or kSystem; "" = plain text
  // Signs in with munge instead of a token: the path of munged's socket, or kSystem; "" = it does
  // not
  std::string munge = {};
  static constexpr const char* kSystem = "system";  // whom this machine believes
  bool operator==(const Context&) const = default;
};

struct ContextConfig {
  std::string current;  // "" = none yet
  std::vector<Context> contexts;
  bool operator==(const ContextConfig&) const = default;
};

// $HAI_CONFIG, else $XDG_CONFIG_HOME/hai/config.json, else ~/.config/hai/config.json.
std::string context_config_path();
std::string home_directory();

Result<ContextConfig> parse_contexts(std::string_view json);
std::string format_contexts(const ContextConfig& config);

// A file that does not exist is an empty config.
Result<ContextConfig> load_contexts(const std::string& path);
Status update_contexts(const std::string& path, const std::function<void(ContextConfig&)>& change);
// The same for a change that may be refused: then the file stays as it was.
Status edit_contexts(const std::string& path, const std::function<Status(ContextConfig&)>& change);

void put_context(ContextConfig& config, Context context);  // replaces one of the same name
// If it was the current one, the one before it is again.
bool remove_context(ContextConfig& config, std::string_view name);
// `name` or, if "", the current one.
Result<Context> choose_context(const ContextConfig& config, std::string_view name);

// The one of that name; not_found says which are known and which was probably meant.
Result<Context> named_context(const ContextConfig& config, std::string_view name);
// Words that need no quoting in a shell.
Status check_context_name(std::string_view name);

// What its client needs to speak to it.
Result<TlsTexts> tls_of(const Context& context);

// Whether the address says that TLS is to be spoken: "https://", "grpcs://".
bool wants_tls(std::string_view address);
// "grpc://host:port", "https://host:port", "host:port" -> "host:port".
Result<std::string> parse_server_address(std::string_view text);

}  // namespace hai::cli
